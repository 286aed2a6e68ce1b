import type { RecordId } from "../../base/ids.ts";
import type { ServiceError } from "../../connector/service-errors.ts";
import { recordOf } from "../../extract/work-request.ts";
import type { Resource } from "../../connector/resource.ts";
import type { AnswerContext, RunContext } from "../context/run-context.ts";
import { asksForDeletion } from "../plan/read-reasons.ts";
import { ownedBy } from "./removal.ts";

/** What a 404 on a record's own route proves (I5). */
export type DeletionVerdict =
  | { readonly kind: "deleted" }
  /** The route itself is in doubt: first read one of these records, which should exist; without any, the list. */
  | { readonly kind: "probe"; readonly candidates: readonly RecordId[] }
  | { readonly kind: "unproven"; readonly why: string };

/** Laravel's message for a missing record, as the service sends it; a missing route has another one. */
const missingRecord = "No query results for model";

/** What is known besides the 404. */
interface DeletionFacts {
  readonly routeProven: boolean;
  /** Records that should exist. */
  readonly candidates: readonly RecordId[];
  /** Does something else say that the record is gone? */
  readonly isSuspected: boolean;
}

/**
 * A 404 counts when the route answered 200 recently. Where no other record is left to probe with, the service's message
 * for a missing record counts, its message for a missing route does not; but only where something else says so, too:
 * the whole route may answer like this. Pure.
 *
 * @param message the service's own message; null when the answer was not its JSON
 */
export function judgeDeletion(
  message: string | null,
  { routeProven, candidates, isSuspected }: DeletionFacts,
  id: RecordId,
): DeletionVerdict {
  if (message === null)
    return { kind: "unproven", why: "the 404 has no JSON message, so it may not be from the service" };
  if (routeProven) return { kind: "deleted" };
  const others = candidates.filter((candidate) => candidate !== id);
  if (others.length > 0) return { kind: "probe", candidates: others };
  if (candidates.includes(id)) return { kind: "unproven", why: "the list of the same run shows the record" };
  if (!message.startsWith(missingRecord))
    return { kind: "unproven", why: `the 404 may concern the route, not the record ("${message}")` };
  // Its list, read again, shows it or makes it suspected.
  return isSuspected ? { kind: "deleted" } : { kind: "probe", candidates: [] };
}

/**
 * Judges a 404 by what this run knows of the route and of other records: those that its list showed last, else live
 * ones of the mirror. A record that a complete list of this run did not show is no candidate.
 */
export function deletionVerdict(
  { run, resource, item }: AnswerContext,
  error: ServiceError,
): DeletionVerdict {
  const { name } = resource;
  const id = recordOf(item);
  const { records } = run.mirror;
  const candidates = run.probeCandidates.get(name) ?? run.queue.routeProbes(records, name, id);
  // Reads overlapped: one of them showed the record.
  const isUnknown = item.reason !== "overlapped" && !isHeld(run, resource, id);
  const isSuspected = asksForDeletion(item) || run.probeCandidates.has(name) || isUnknown;
  return judgeDeletion(
    error.serviceMessage,
    { routeProven: run.provenRoutes.has(name), candidates, isSuspected },
    id,
  );
}

/** Would anything go with it? A record that the mirror never had may own some that it has. */
function isHeld(run: RunContext, resource: Resource, id: RecordId): boolean {
  const { records, manifest } = run.mirror;
  return (
    records.isLive(resource.name, id) ||
    manifest.resources.some((owned) => ownedBy(run, owned, resource, id).length > 0)
  );
}
