import { expect, test } from "vitest";
import { hourMs, type Clock } from "../../src/base/clock.ts";
import { aCompany, fastClock, sync, type Company } from "../support/company/company.ts";
import { count } from "../support/truth/compare.ts";
import { expectEqual } from "../support/truth/equal.ts";

/** The run's clock is set by so much when that request is sent; its monotonic time goes on. */
function setAt(company: Company, request: number, byMs: number): Clock {
  const clock = fastClock();
  let offsetMs = 0;
  company.proxy.obstruct(({ n }) => {
    if (n === request) offsetMs = byMs;
    return undefined;
  });
  return { ...clock, nowMs: () => clock.nowMs() + offsetMs };
}

// Fault: clock | the clock is set by a year, back or ahead, in the middle of a run | the run's clock, at its 5th request | the run completes with few requests more, equal; the next one too, and nothing waits
test("a clock that is set back or ahead by a year in the middle of a run: the run completes, and so does the next one", async () => {
  const company = await aCompany({ records: 10 });
  await sync(company);
  const usual = company.proxy.asked.length;
  for (const byMs of [-365 * 24 * hourMs, 365 * 24 * hourMs]) {
    const asked = company.proxy.asked.length;
    company.sandbox.control.trigger("invoices.created");
    const clock = setAt(company, asked + 5, byMs);
    expect(await sync(company, { clock, full: true })).toMatchObject({ outcome: "complete", troubles: [] });
    expect(company.proxy.asked.length - asked).toBeLessThan(2 * usual);
    company.sandbox.control.trigger("invoices.created");
    expect(await sync(company)).toMatchObject({ outcome: "complete", troubles: [] });
    expectEqual(company);
    expect(count(company.file, "SELECT count(*) FROM _work")).toBe(0);
  }
});
