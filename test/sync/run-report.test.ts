import { expect, test } from "vitest";
import { isWholeRun, isWorthPublishing, listedOutcome } from "../../src/sync/context/run-report.ts";

const at = "2026-11-22T02:20:00.000Z";
const scrub = { total: 9, planned: 5, read: 5, changed: 0, left: 0 };

const whole = (outcome: string | null, listedAt?: string | null) =>
  isWholeRun({ outcome, ...(listedAt !== undefined && { listed_at: listedAt }) });

const worth = (outcome: "complete" | "partial" | "stopped" | "failed" | "interrupted", more: object = {}) =>
  isWorthPublishing({ outcome, listed_at: at, scrub: null, ...more });

test("a run is whole once everything listed is in, whatever cut off its scrub", () => {
  expect([whole("complete"), whole("partial", at), whole("stopped", at), whole(null, at)]).toEqual(
    Array(4).fill(true),
  );
  expect([whole("stopped", null), whole("failed"), whole(null)]).toEqual(Array(3).fill(false));
});

test("a scrub that was cut off leaves the outcome of the rest", () => {
  const trouble = { resource: "orders", kind: "dead", message: "id:1 was refused" } as const;
  expect(listedOutcome({ outcome: "stopped", listed_at: at, troubles: [] })).toBe("complete");
  expect(listedOutcome({ outcome: "failed", listed_at: at, troubles: [trouble] })).toBe("partial");
  expect(listedOutcome({ outcome: "stopped", listed_at: null, troubles: [] })).toBe("stopped");
});

test("reports and exports are made after a run, unless its scrub found nothing since they were", () => {
  expect([
    worth("complete"),
    worth("partial"),
    worth("complete", { scrub: { ...scrub, planned: 0 } }),
  ]).toEqual(Array(3).fill(true));
  expect(worth("complete", { scrub })).toBe(false);
  expect(worth("complete", { scrub: { ...scrub, changed: 2 } })).toBe(true);
  expect(worth("stopped", { scrub: { ...scrub, changed: 2 } })).toBe(true);
  expect(worth("interrupted", { scrub: { ...scrub, changed: 2 } })).toBe(false);
  expect(worth("failed", { listed_at: null })).toBe(false);
});

test("a night that a limit cut off is shown by reports and exports, too", () => {
  expect(worth("stopped", { listed_at: null })).toBe(true);
});
