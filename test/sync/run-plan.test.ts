import { expect, test } from "vitest";
import { minutesFor, minutesText, planRun, scrubText } from "../../src/sync/plan/estimate.ts";

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
    "3,600 of 12,500, about 29 minutes; every detail and CRM parent read so far is proved every 4 nights",
  );
  expect(text(100, 1, 100)).toContain("100 of 100, less than a minute; every detail");
  expect(text(100, 1, 100)).toContain("proved every night");
  expect(text(0, 0, 0)).toBe("nothing yet");
});

test("how long something takes is said in whole words", () => {
  expect([0, 0.9, 1, 1.1, 2].map(minutesText)).toEqual([
    "less than a minute",
    "less than a minute",
    "about a minute",
    "about 1.1 minutes",
    "about 2 minutes",
  ]);
});

test("the last window of requests costs no time, and a budget of nothing is one request in a window", () => {
  expect([0, 1, 120, 121, 240, 241].map((requests) => minutesFor(requests, budget))).toEqual([
    0, 0, 0, 1, 1, 2,
  ]);
  expect(minutesFor(3, { granted: 0, windowMs: 60_000 })).toBe(2);
  expect(minutesFor(3, { granted: 1, windowMs: 6_000 })).toBe(0.2);
  expect(minutesFor(50_000, { granted: 1, windowMs: 60_000 })).toBe(49_999);
});
