import { expect, test } from "vitest";
import { isRepublishDue, isStepOwed } from "../../src/host/company-after-run.ts";
import type { StepRecord } from "../../src/status/after-run-record.ts";

const at = "2026-11-21T08:00:00.000Z";
const everyMs = 15 * 60_000;
const madeMs = Date.parse(at);
const made: StepRecord = {
  outcome: "written",
  at,
  duration_ms: 900,
  error: null,
  last_success_at: at,
  seq: 7,
};
const failed: StepRecord = { ...made, outcome: "failed", error: "no room" };

// Fault: clock | the last report was made by a clock that was ahead | the record of the report | written again at once
test.each([
  ["when something changed and the last attempt is long enough ago", made, 8, everyMs, true],
  ["not before that", made, 8, everyMs - 1, false],
  ["not where nothing changed", made, 7, everyMs, false],
  ["also after a failure", failed, 7, everyMs, true],
  ["not soon after a failure", failed, 7, everyMs - 1, false],
  ["not before a run has tried the first one", null, 8, everyMs, false],
  ["at once where the last one was made by a clock that was ahead", made, 8, -3_600_000, true],
])("the report is written again after events: %s", (_, last, seq, afterMs, isDue) => {
  expect(isRepublishDue(last, seq, everyMs, madeMs + afterMs)).toBe(isDue);
});

test("a step is owed after a run where it was never made, or before its changes; one that was tried since is not", () => {
  expect(isStepOwed(null, 7, madeMs + 1)).toBe(true);
  expect(isStepOwed(made, 8, madeMs + 1)).toBe(true);
  expect(isStepOwed(made, 7, madeMs + 1)).toBe(false);
  expect(isStepOwed(made, 8, madeMs)).toBe(false);
});
