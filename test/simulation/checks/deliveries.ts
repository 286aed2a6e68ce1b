import type { Check } from "./mirror-contents.ts";

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
