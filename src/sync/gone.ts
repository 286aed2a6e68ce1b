import type { RecordId } from "../base/ids.ts";
import type { ServiceError } from "../connector/errors.ts";
import type { Resource } from "../connector/resource.ts";
import type { Session } from "./session.ts";

/** What a 404 on a record's own route proves (I5). */
export type GoneVerdict =
  | { readonly kind: "gone" }
  /** The route itself is in doubt: first read a record that the list has just shown. */
  | { readonly kind: "ask"; readonly canary: RecordId }
  | { readonly kind: "unproven"; readonly why: string };

/**
 * Pure. A 404 counts when the route has answered 200 in this run. Where nothing else is left to ask for
 * (the last record of its kind), the service's own words for a missing record count, those for a missing
 * route do not.
 */
export function judgeGone(
  message: string | null,
  routeProven: boolean,
  canaries: readonly RecordId[],
  id: RecordId,
): GoneVerdict {
  if (message === null)
    return { kind: "unproven", why: "the 404 is not the service's own (no JSON message)" };
  if (routeProven) return { kind: "gone" };
  const canary = canaries.find((candidate) => candidate !== id);
  if (canary !== undefined) return { kind: "ask", canary };
  if (canaries.includes(id)) return { kind: "unproven", why: "the list of this very run shows it" };
  if (message.startsWith("No query results for model")) return { kind: "gone" };
  return { kind: "unproven", why: `the 404 may be of the route, not of the record ("${message}")` };
}

export function verdictOnGone(
  session: Session,
  resource: Resource,
  error: ServiceError,
  id: RecordId,
): GoneVerdict {
  const canaries = session.canaries.get(resource.name) ?? [];
  return judgeGone(error.serviceMessage, session.provenRoutes.has(resource.name), canaries, id);
}
