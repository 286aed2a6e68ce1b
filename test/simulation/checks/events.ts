import type { Check } from "./mirror-contents.ts";
import { queuedTargets } from "./progress.ts";

/** I6 and I12: each delivery that was answered 2xx is kept, byte for byte; I7: none is kept twice. */
export const lostDeliveries: Check = (mirror, { acknowledged }) => {
  const stored = new Map(mirror.events.map((one) => [one.id, one]));
  const doubled = mirror.events
    .filter((one) => stored.get(one.id) !== one)
    .map(({ id }) => `I7 event ${id}: stored twice`);
  const lost = [...acknowledged].flatMap(([id, body]) => {
    const kept = stored.get(id);
    if (!kept) return [`I6 event ${id}: answered 2xx, and not kept`];
    return String(kept.body) === String(body) ? [] : [`I12 event ${id}: not kept as it was sent`];
  });
  return [...doubled, ...lost];
};

/** I4: at rest no event waits, and nothing is left to read. */
export const leftToRead: Check = (mirror) => {
  const work = "SELECT resource || ' ' || target || ': ' || state || ', ' || reason FROM _work";
  const waiting = mirror.events.filter(({ state }) => state === "waiting");
  return [
    ...waiting.map(({ id, type }) => `I4 ${type} ${id}: waits at rest`),
    ...mirror.column(work).map((what) => `I4 left in the queue: ${what}`),
  ];
};

/** The first read of an event's record may be too early only so long after the event. */
const earlyMs = 30_000;

/**
 * I4: an event waits for another attempt, or for the next run, only after a read of its record that was sent after it
 * arrived.
 */
export const waitingWithoutRead: Check = (mirror, { arrivals, asked }) => {
  const sql = `SELECT resource || ' ' || target, state FROM _work WHERE state = 'dead' OR (state = 'ready' AND due_ms > 0)`;
  const postponed = new Map(mirror.db.prepare(sql).raw().all() as [string, string][]);
  return mirror.events.flatMap(({ id, type, state, resource, target }) => {
    const how = state === "waiting" ? postponed.get(`${resource} ${target}`) : undefined;
    const arrivedMs = arrivals.get(id);
    if (how === undefined || arrivedMs === undefined) return [];
    const lastMs = asked.get(recordOf(resource, target))?.at(-1)?.sentAtMs ?? -Infinity;
    if (lastMs >= arrivedMs) return [];
    const why = how === "dead" ? "set aside" : "not due";
    return [`I4 ${type} ${id}: its record is ${why}, and was not read since`];
  });
};

/** I4: no event is done by an answer that was thrown away because another read of its record overlapped with it. */
export const doneByNothing: Check = ({ events }) =>
  events
    .filter(({ outcome }) => outcome === "stale")
    .map(({ id, type }) => `I4 ${type} ${id}: done by an answer that was not used`);

/** I4: a record that was read soon after its event is read once more: the event may come before its change. */
export const readTooSeldom: Check = (mirror, { arrivals, asked }) => {
  const work = queuedTargets(mirror);
  return mirror.events.flatMap(({ id, type, state, resource, target, requestId }) => {
    const arrivedMs = arrivals.get(id);
    if (state !== "done" || arrivedMs === undefined || work.has(`${resource} ${target}`)) return [];
    const reads = asked.get(recordOf(resource, target)) ?? [];
    const last = reads.at(-1);
    if (!last || last.requestId !== requestId || last.sentAtMs - arrivedMs > earlyMs) return [];
    const laterMs = Math.round(last.sentAtMs - arrivedMs);
    return [`I4 ${type} ${id}: its record was read ${laterMs} ms after it, and is not read again`];
  });
};

function recordOf(resource: string, target: string): string {
  return `${resource} ${target.slice("id:".length)}`;
}
