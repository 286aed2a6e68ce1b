import { expect, onTestFinished, test } from "vitest";
import { openDatabase, type Db } from "../../src/store/database.ts";
import { aCompany, fastClock, sync, type Company } from "../support/company/company.ts";
import { expectEqual } from "../support/truth/equal.ts";

/** From the n-th request on, another program holds the mirror's lock for some time of the run's clock. */
function lockFrom(company: Company, request: number, forMs: number) {
  const clock = fastClock();
  let untilMs: number | null = null;
  let other: Db | null = null;
  company.proxy.obstruct(({ n }) => {
    if (n !== request) return undefined;
    const opened = (other = openDatabase(company.file));
    onTestFinished(() => void opened.close());
    other.exec("BEGIN IMMEDIATE; UPDATE _meta SET value = value");
    untilMs = clock.monotonicMs() + forMs;
    return undefined;
  });
  const sleep: typeof clock.sleep = async (ms, signal) => {
    await clock.sleep(ms, signal);
    if (untilMs === null || clock.monotonicMs() < untilMs) return;
    untilMs = null;
    other?.exec("COMMIT");
  };
  return { ...clock, sleep };
}

// Fault: disk | another program holds the mirror's write lock for 25 s | a second connection, in the middle of a run | waited for; the run is complete
test("a foreign write transaction of 25 s is waited for: the run completes, and the mirror is equal", async () => {
  const company = await aCompany();
  // Six waiting reads share the run's clock.
  const clock = lockFrom(company, 40, 25_000);
  expect(await sync(company, { clock, concurrency: 1 })).toMatchObject({ outcome: "complete", troubles: [] });
  expectEqual(company);
  expect(company.said.join("\n")).toContain("another program holds the database");
});
