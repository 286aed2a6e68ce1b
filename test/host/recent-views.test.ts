import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { createRecentViews } from "../../src/host/daemon.ts";
import { companyView } from "../support/status/company-view.ts";

test("views of many companies are read in slices, once for all who ask, and again when they are 5 s old", async () => {
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  const reads = { count: 0, inTurn: 0, mostInTurn: 0 };
  const view = () => {
    reads.count += 1;
    reads.inTurn += 1;
    reads.mostInTurn = Math.max(reads.mostInTurn, reads.inTurn);
    if (reads.inTurn === 1) setImmediate(() => (reads.inTurn = 0));
    nowMs += 5;
    return companyView();
  };
  const recent = createRecentViews(clock, () => Array.from({ length: 100 }, () => ({ view })));
  const [one, other] = await Promise.all([recent(), recent()]);
  expect(one).toHaveLength(100);
  expect(other).toBe(one);
  expect(reads).toMatchObject({ count: 100, mostInTurn: 4 });
  nowMs += 4_900;
  expect(await recent()).toBe(one);
  nowMs += 200;
  expect(await recent()).not.toBe(one);
});
