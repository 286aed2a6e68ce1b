import { isText } from "../service/service-truth.ts";
import type { TableName } from "../service/service-types.ts";
import type { SeenRead } from "../machine/simulated-machine.ts";
import type { Check } from "./mirror-contents.ts";
import { queuedTargets } from "./progress.ts";

/**
 * I3: no read changes a record that was sent before another read of it, by the same process, came with the record, or
 * completed an event because the record is gone. Nobody knows which of the two is newer: the record is read once more.
 */
export const overlappingChanges: Check = (mirror, { reads }) => {
  const byRequest = new Map(reads.map((read) => [read.requestId, read]));
  const foundGone = new Set(mirror.events.flatMap((one) => (one.outcome === "absent" ? one.request_id : [])));
  return mirror.changes.flatMap(({ resource, record_id: id, request_id: requestId, cause }) => {
    const read = requestId === null || cause === "schema" ? undefined : byRequest.get(requestId);
    if (!read) return [];
    const others = reads.filter((other) => other !== read && isOf(other, `${resource} ${id}`));
    const earlier = others.find(
      (other) =>
        (!other.isMissing || foundGone.has(other.requestId)) &&
        isDuring(other, read) &&
        !others.some((one) => isDuring(one, other) || cameAsItWasSent(one, other)),
    );
    return earlier && isOf(read, `${resource} ${id}`)
      ? [`I3 ${resource} ${id}: changed by ${requestId}, which was sent before ${earlier.requestId} came`]
      : [];
  });
};

/**
 * I3: a record that a list shows otherwise than it is here, because another read of it came meanwhile, is read once more:
 * nobody knows which of the two is newer.
 */
export const overlappedUnread: Check = (mirror, { service, reads }) => {
  const work = queuedTargets(mirror);
  const byRequest = new Map(service.exchanges.map((one) => [one.requestId, one]));
  return reads.flatMap((list, at) => {
    const answer = byRequest.get(list.requestId);
    const others = reads.filter((other) => other !== list && isDuring(other, list) && !other.isMissing);
    // The process lived on, so that it has applied the list.
    const isApplied = reads.some(
      (one, i) => i > at && one.process === list.process && one.sentAtMs > list.receivedAtMs,
    );
    if (!answer || list.isMissing || !isApplied || others.length === 0) return [];
    return [...list.shown]
      .filter((key) => {
        const [table, id] = key.split(" ") as [TableName, string];
        if (answer.route.endsWith(`/${id}`) || !others.some((other) => isOf(other, key))) return false;
        const held = mirror.records(table).get(Number(id));
        const shown = service.company.log.at(table, Number(id), answer.asOfMs);
        if (!held || held.isDeleted || work.has(`${table} id:${id}`)) return false;
        if (shown && isText(shown, held.json)) return false;
        const route = `/${table.replaceAll("_", "-")}`;
        return !service.exchanges.some(
          (one) =>
            one.hitAtMs >= list.receivedAtMs &&
            (one.route === route || one.route === `${route}/${id}`) &&
            (one.status === 200 || one.status === 404),
        );
      })
      .map((key) => `I3 ${key}: ${list.requestId} overlapped with another read, and nothing is queued`);
  });
};

function isOf({ shown }: SeenRead, key: string): boolean {
  return shown.has(key);
}

/** Did the other read come while this one was under way, to the same process? */
function isDuring(other: SeenRead, { process, sentAtMs, receivedAtMs }: SeenRead): boolean {
  return other.process === process && other.receivedAtMs > sentAtMs && other.receivedAtMs < receivedAtMs;
}

/** At the same moment: the process may have sent it before the other read came. */
function cameAsItWasSent(other: SeenRead, { process, sentAtMs }: SeenRead): boolean {
  return other.process === process && other.receivedAtMs === sentAtMs;
}
