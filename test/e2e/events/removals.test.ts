import { expect, test } from "vitest";
import { aMirroredCompany, sync, type Company } from "../../support/company/company.ts";
import { count, expectEqual, serviceIds } from "../../support/truth/equal.ts";
import { DrivenClock } from "../../support/virtual/driven-clock.ts";
import { eventOf, inboxOf, startWorker } from "../../support/mirror/event-worker.ts";

const deleted = (company: Company, table: string) =>
  count(company.file, `SELECT count(*) FROM "${table}" WHERE _deleted_at IS NOT NULL`);

// Fault: webhook | deletion events for 30 of a table's records within a day | deliveries to two event workers, one after the other | held above the limit; the next run asks for the rest (I5)
test("I5: too many deletions within a day are held, counted over restarts; the next run, which has a limit of its own, removes the rest", async () => {
  const clock = new DrivenClock(Date.now());
  const company = await aMirroredCompany({}, { startAtMs: clock.nowMs() });
  for (let i = 0; i < 30; i++) company.sandbox.control.create("suppliers", { name: `Dodávateľ ${i}` });
  await sync(company, { startAtMs: clock.nowMs() });
  const gone = serviceIds(company, "suppliers").slice(-30);
  for (const id of gone) company.sandbox.control.remove("suppliers", id);
  const first = await startWorker(company, { clock });
  first.deliver(...gone.slice(0, 15).map((id) => eventOf("suppliers.deleted", id)));
  await first.rest();
  expect(deleted(company, "suppliers")).toBeGreaterThanOrEqual(15);
  await first.stop();
  const second = await startWorker(company, { clock });
  second.deliver(...gone.slice(15).map((id) => eventOf("suppliers.deleted", id)));
  await second.rest();
  // One more may be removed: the record that was probed and is deleted as well.
  expect(deleted(company, "suppliers")).toBeLessThanOrEqual(21);
  expect(company.said.some((line) => line.includes("within a day"))).toBe(true);
  expect((await second.run()).outcome).toBe("complete");
  await second.rest();
  expectEqual(company, { tables: ["suppliers"] });
  expect(inboxOf(second.mirror).every((row) => /done (deleted|absent)$/.test(row))).toBe(true);
});
