import { isDeepStrictEqual } from "node:util";
import type { SeenRead } from "../machine/simulated-machine.ts";
import type { TableName } from "../service/service-types.ts";
import type { Check } from "./mirror-contents.ts";
import { queuedTargets } from "./progress.ts";

/**
 * I3: no read changes a record that was sent before another read of it, by the same process, came with the record, or
 * completed an event because the record is gone. Nobody knows which of the two is newer: the record is read once more.
 */
export const overlappingChanges: Check = (mirror, { reads }) => {
  const byRequest = new Map(reads.map((read) => [read.requestId, read]));
  const foundGone = new Set(mirror.events.flatMap((one) => (one.outcome === "absent" ? one.requestId : [])));
  return mirror.changes.flatMap(({ resource, id, requestId, cause }) => {
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
 * I11: of two reads that overlap, the one that came last shows a record otherwise, and the mirror has it as the first one
 * showed it: it is queued, or was asked for since.
 */
export const forgottenOverlaps: Check = (mirror, { reads, asked }) => {
  const work = queuedTargets(mirror);
  const lastReads = new Map(reads.flatMap((read) => Array.from(read.shown.keys(), (key) => [key, read])));
  return [...lastReads].flatMap(([key, read]) => {
    const [table = "", id = ""] = key.split(" ");
    const { json = null, isDeleted = true } = mirror.records(table as TableName).get(Number(id)) ?? {};
    const askedAtMs = asked.get(key)?.at(-1)?.sentAtMs ?? -Infinity;
    if (isDeleted || json === null || askedAtMs >= read.receivedAtMs || work.has(`${table} id:${id}`))
      return [];
    const isHere = (one: SeenRead) => isDeepStrictEqual(one.shown.get(key), JSON.parse(json));
    if (isHere(read) || !reads.some((one) => isDuring(one, read) && isHere(one))) return [];
    return [`I11 ${key}: ${read.requestId} showed it otherwise, and it is not read again`];
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
