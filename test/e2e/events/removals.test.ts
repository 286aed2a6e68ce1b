import { expect, test } from "vitest";
import { aMirroredCompany, sync, type Company } from "../../support/company/company.ts";
import { count, expectEqual, serviceIds } from "../../support/truth/equal.ts";
import { DrivenClock } from "../../support/virtual/driven-clock.ts";
import { missing, missingPage } from "../../support/company/proxy.ts";
import { eventOf, inboxOf, pass, startWorker } from "../../support/mirror/event-worker.ts";

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

// Fault: service | a deletion event while its route answers 404 for every record | a proxy, with a page and in the service's words | reads, and not one deletion (I5)
test("I5: a deletion on a route that answers 404 for every record is none, with a page or in the service's words", async () => {
  const clock = new DrivenClock();
  const company = await aMirroredCompany({ records: 3 }, { startAtMs: clock.nowMs() });
  const worker = await startWorker(company, { clock });
  company.proxy.obstruct(({ path, n }) =>
    path.startsWith("/invoices/") ? (n % 2 === 0 ? missingPage : missing) : undefined,
  );
  const [id = 0, other = 0] = serviceIds(company, "invoices");
  worker.deliver(eventOf("invoices.deleted", id), eventOf("invoices.updated", other));
  await pass(clock, worker, 120_000);
  expect(deleted(company, "invoices")).toBe(0);
  expect(inboxOf(worker.mirror)).toEqual(["invoices.deleted waiting", "invoices.updated waiting"]);
  company.recover();
  expect((await worker.run()).outcome).toBe("complete");
  await worker.rest();
  expect(inboxOf(worker.mirror).every((row) => row.endsWith("done unchanged"))).toBe(true);
});
