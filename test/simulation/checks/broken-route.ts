import type { TableName } from "../service/service-types.ts";
import type { MirrorContents, Observation } from "./mirror-contents.ts";

/** The request after which each record was deleted last, by its table and id. */
export function lastDeletions({ changes }: MirrorContents): ReadonlyMap<string, string | null> {
  const deletions = changes.filter(({ op }) => op === "delete");
  return new Map(deletions.map((one) => [`${one.resource} ${one.id}`, one.requestId]));
}

/**
 * Did this request ask a broken route for a record while the mirror held no other one to test the route with? Such a 404 is
 * believed where something else says that the record is gone.
 */
export function wasDeniedAlone(
  mirror: MirrorContents,
  { service, deniedAtMs, receivedAtMs }: Observation,
  requestId: string | null,
): boolean {
  const asked = service.exchangeOf(requestId);
  const [, route = "", id = ""] = asked?.route.split("/") ?? [];
  const table = route.replaceAll("-", "_") as TableName;
  if (!asked || !deniedAtMs.has(`${table} ${id}`)) return false;
  const deniedMs = receivedAtMs.get(asked.requestId) ?? asked.hitAtMs;
  const live = new Set<number>();
  for (const { resource, id: other, op, requestId: by } of mirror.changes) {
    const cameMs = receivedAtMs.get(by ?? "") ?? service.exchangeOf(by)?.hitAtMs;
    if (resource !== table || other === Number(id) || cameMs === undefined || cameMs > deniedMs) continue;
    if (op === "delete") live.delete(other);
    else live.add(other);
  }
  return live.size === 0;
}
