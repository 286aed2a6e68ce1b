import { expect, test } from "vitest";
import { nextWorkMs } from "../../src/host/run-scheduler.ts";

const nowMs = Date.UTC(2026, 10, 21);
const minute = 60_000;

/** All in ms from now; the service is in this state for so long. */
type Row = readonly [
  what: string,
  dueMs: readonly (number | null)[],
  publishMs: number | null,
  state: Parameters<typeof nextWorkMs>[2]["state"],
  forMs: number,
  nextMs: number | null,
];

test.each<Row>([
  ["nothing that is known", [], null, "working", 0, null],
  ["the first of runs and reads", [null, 9, 5], 7, "working", 0, 5],
  ["the report where that is first", [null, 9], 7, "working", 0, 7],
  ["the report alone", [null, null], 7, "working", 0, 7],
  ["now while the service is away for a moment", [-10], null, "unavailable", 2 * minute, -10],
  ["in five minutes once it is away for two", [-10], null, "unavailable", 2 * minute + 1, 5 * minute],
  ["no sooner where the token was refused", [-10], null, "unauthenticated", 60 * minute, 5 * minute],
  ["later where that is later", [30 * minute], null, "unavailable", 60 * minute, 30 * minute],
  ["not put off where the service works", [0], null, "working", 60 * minute, 0],
  ["not put off where it was not asked yet", [0], null, "starting", 60 * minute, 0],
  ["a report that is never put off", [0], 1, "unavailable", 60 * minute, 1],
  ["nothing, also while it is away", [], null, "unavailable", 60 * minute, null],
])("a company has to do next: %s", (_, dueMs, publishMs, state, forMs, nextMs) => {
  const fromNow = (ms: number | null) => (ms === null ? null : nowMs + ms);
  const service = { state, sinceMs: nowMs - forMs };
  expect(nextWorkMs(dueMs.map(fromNow), [fromNow(publishMs)], service, nowMs)).toBe(fromNow(nextMs));
});
