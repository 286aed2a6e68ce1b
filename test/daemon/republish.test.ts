import { describe, expect, test } from "vitest";
import { isRepublishDue, isStepOwed } from "../../src/daemon/company-after-run.ts";
import type { StepRecord } from "../../src/status/after-run-record.ts";

const at = "2026-11-21T08:00:00.000Z";
const everyMs = 15 * 60_000;
const laterMs = Date.parse(at) + everyMs;

const made: StepRecord = {
  outcome: "written",
  at,
  duration_ms: 900,
  error: null,
  last_success_at: at,
  seq: 7,
};

describe("the report is written again after events", () => {
  test("when something changed and the last attempt is long enough ago", () => {
    expect(isRepublishDue(made, 8, everyMs, laterMs)).toBe(true);
    expect(isRepublishDue(made, 8, everyMs, laterMs - 1)).toBe(false);
    expect(isRepublishDue(made, 7, everyMs, laterMs)).toBe(false);
  });

  test("also after a failure, but not before a run has tried the first one", () => {
    const failed: StepRecord = { ...made, outcome: "failed", error: "no room" };
    expect(isRepublishDue(failed, 7, everyMs, laterMs)).toBe(true);
    expect(isRepublishDue(failed, 7, everyMs, laterMs - 1)).toBe(false);
    expect(isRepublishDue(null, 8, everyMs, laterMs)).toBe(false);
  });

  // Fault: clock | the last report was made by a clock that was ahead | the record of the report | written again at once
  test("and at once where the last one was made by a clock that was ahead", () => {
    expect(isRepublishDue(made, 8, everyMs, Date.parse(at) - 3_600_000)).toBe(true);
  });
});

test("a step is owed after a run where it was never made, or before its changes; one that was tried since is not", () => {
  const runEndedMs = Date.parse(at) + 1;
  expect(isStepOwed(null, 7, runEndedMs)).toBe(true);
  expect(isStepOwed(made, 8, runEndedMs)).toBe(true);
  expect(isStepOwed(made, 7, runEndedMs)).toBe(false);
  expect(isStepOwed(made, 8, Date.parse(at))).toBe(false);
});
