import type { RecordId } from "../../base/ids.ts";
import type { ServiceError } from "../../connector/service-errors.ts";
import type { Resource } from "../../connector/resource.ts";
import type { RunContext } from "../context/run-context.ts";

/** What a 404 on a record's own route proves (I5). */
export type DeletionVerdict =
  | { readonly kind: "deleted" }
  /** The route itself is in doubt: first read one of these records, which should exist. */
  | { readonly kind: "probe"; readonly candidates: readonly RecordId[] }
  | { readonly kind: "unproven"; readonly why: string };

/** Laravel's message for a missing record, as the service sends it; a missing route has another one. */
const missingRecord = "No query results for model";

/**
 * A 404 counts when the route answered 200 recently. Where no other record is left to probe with, the
 * service's message for a missing record counts, its message for a missing route does not. Pure.
 *
 * @param message the service's own message; null when the answer was not its JSON
 * @param candidates records that should exist
 */
export function judgeDeletion(
  message: string | null,
  routeProven: boolean,
  candidates: readonly RecordId[],
  id: RecordId,
): DeletionVerdict {
  if (message === null)
    return { kind: "unproven", why: "the 404 has no JSON message, so it may not be from the service" };
  if (routeProven) return { kind: "deleted" };
  const others = candidates.filter((candidate) => candidate !== id);
  if (others.length > 0) return { kind: "probe", candidates: others };
  if (candidates.includes(id)) return { kind: "unproven", why: "the list of the same run shows the record" };
  if (message.startsWith(missingRecord)) return { kind: "deleted" };
  return { kind: "unproven", why: `the 404 may concern the route, not the record ("${message}")` };
}

/**
 * Judges a 404 by what this run knows of the route and of other records: those that its list showed last, else live
 * ones of the mirror. A record that a complete list of this run did not show is no candidate.
 */
export function deletionVerdict(
  run: RunContext,
  { name }: Resource,
  error: ServiceError,
  id: RecordId,
): DeletionVerdict {
  const candidates = run.probeCandidates.get(name) ?? run.queue.routeProbes(run.mirror.records, name, id);
  return judgeDeletion(error.serviceMessage, run.provenRoutes.has(name), candidates, id);
}
