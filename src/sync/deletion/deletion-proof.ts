import type { RecordId } from "../../base/ids.ts";
import type { ServiceError } from "../../connector/service-errors.ts";
import type { Resource } from "../../connector/resource.ts";
import { probeCandidates } from "./route-probe.ts";
import type { RunContext } from "../context/run-context.ts";

/** What a 404 on a record's own route proves (I5). */
export type DeletionVerdict =
  | { readonly kind: "gone" }
  /** The route itself is in doubt: first read a record that should be there. */
  | { readonly kind: "ask"; readonly canaries: readonly RecordId[] }
  | { readonly kind: "unproven"; readonly why: string };

/**
 * Pure. A 404 counts when the route has lately answered 200. Where nothing else is left to ask for
 * (the last record of its kind), the service's own words for a missing record count, those for a missing
 * route do not.
 */
export function judgeDeletion(
  message: string | null,
  routeProven: boolean,
  canaries: readonly RecordId[],
  id: RecordId,
): DeletionVerdict {
  if (message === null)
    return { kind: "unproven", why: "the 404 is not the service's own (no JSON message)" };
  if (routeProven) return { kind: "gone" };
  const others = canaries.filter((candidate) => candidate !== id);
  if (others.length > 0) return { kind: "ask", canaries: others };
  if (canaries.includes(id)) return { kind: "unproven", why: "the list of this very run shows it" };
  if (message.startsWith("No query results for model")) return { kind: "gone" };
  return { kind: "unproven", why: `the 404 may be of the route, not of the record ("${message}")` };
}

export function deletionVerdict(
  session: RunContext,
  resource: Resource,
  error: ServiceError,
  id: RecordId,
): DeletionVerdict {
  const proven = session.provenRoutes.has(resource.name);
  return judgeDeletion(error.serviceMessage, proven, probeCandidates(session, resource, id), id);
}
