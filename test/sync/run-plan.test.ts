import { expect, test } from "vitest";
import { planRun, scrubText } from "../../src/sync/plan/run-plan.ts";

const budget = { granted: 120, windowMs: 60_000 };

test("each part of a run has its requests and the minutes that the granted budget needs", () => {
  const requests = { lists: 64, missing: 12_500, scrub: 3_600 };
  expect(planRun(requests, { total: 12_500, nights: 4 }, budget)).toEqual({
    lists: { requests: 64, minutes: 0 },
    missing: { requests: 12_500, minutes: 104 },
    scrub: { requests: 3_600, minutes: 29, total: 12_500, nights: 4 },
    minutes: 134,
  });
  const half = planRun(requests, { total: 12_500, nights: 4 }, { ...budget, granted: 60 });
  expect(half.scrub.minutes).toBe(59);
});

const text = (total: number, nights: number, requests: number) =>
  scrubText(planRun({ lists: 0, missing: 0, scrub: requests }, { total, nights }, budget).scrub);

test("how often everything is proved is said in words", () => {
  expect(text(12_500, 4, 3_600)).toBe(
    "3,600 of 12,500, about 29 minutes; every detail and CRM parent is proved every 4 nights",
  );
  expect(text(100, 1, 100)).toContain("100 of 100, less than a minute; every detail");
  expect(text(100, 1, 100)).toContain("proved every night");
  expect(text(0, 0, 0)).toBe("nothing yet");
});
