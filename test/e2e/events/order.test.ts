import { describe, expect, test } from "vitest";
import { aCompany, aMirroredCompany, type Company } from "../../support/company/company.ts";
import { count, expectEqual, serviceIds, lastId } from "../../support/truth/equal.ts";
import { eventOf, inboxOf, startWorker } from "../../support/mirror/event-worker.ts";

const live = (company: Company, table: string, id: number) =>
  count(company.file, `SELECT count(*) FROM "${table}" WHERE id = ? AND _deleted_at IS NULL`, id) === 1;

describe("the answer of the service counts, in whatever order events arrive", () => {
  // Fault: webhook | a deletion, and an older update after it | events in another order | the record is deleted
  test("a deletion and a late update: deleted", async () => {
    const company = await aMirroredCompany();
    const worker = await startWorker(company);
    const id = lastId(company, "orders");
    company.sandbox.control.remove("orders", id);
    worker.deliver(eventOf("orders.deleted", id));
    await worker.rest();
    worker.deliver(eventOf("orders.updated", id));
    await worker.rest();
    expect(live(company, "orders", id)).toBe(false);
    expect(inboxOf(worker.mirror)).toEqual(["orders.deleted done deleted", "orders.updated done absent"]);
  });

  // Fault: webhook | a forged deletion event of a live record | a delivery | one read, and nothing is deleted (I5)
  test("I5: a forged deletion event leads to a read and deletes nothing", async () => {
    const company = await aMirroredCompany();
    const worker = await startWorker(company);
    const id = lastId(company, "invoices");
    const asked = company.proxy.asked.length;
    worker.deliver(eventOf("invoices.deleted", id), eventOf("invoices.deleted", id));
    await worker.rest();
    expect(company.proxy.asked.slice(asked).filter(({ path }) => path === `/invoices/${id}`)).toHaveLength(1);
    expect(live(company, "invoices", id)).toBe(true);
    expect(new Set(inboxOf(worker.mirror))).toEqual(new Set(["invoices.deleted done unchanged"]));
  });

  // Fault: webhook | an event of a record that never existed | a delivery | completed as absent, and nothing is written
  test("an event of a record that never existed completes as absent and writes nothing", async () => {
    const company = await aMirroredCompany();
    const worker = await startWorker(company);
    worker.deliver(eventOf("contact-activity-logs.created", 999_999), eventOf("clients.updated", 888_888));
    await worker.rest();
    expect(new Set(inboxOf(worker.mirror))).toEqual(
      new Set(["contact-activity-logs.created done absent", "clients.updated done absent"]),
    );
    expectEqual(company);
    // The events may have been sent before their commits.
    expect(count(company.file, "SELECT count(*) FROM _work WHERE reason = 'recheck'")).toBe(2);
  });
});

test("in a mirror that no run has filled, events bring their records, whatever they point to", async () => {
  const company = await aCompany();
  const worker = await startWorker(company);
  const [log = 0] = serviceIds(company, "contact_activity_logs");
  const [invoice = 0] = serviceIds(company, "invoices");
  worker.deliver(eventOf("contact-activity-logs.created", log), eventOf("invoices.paid", invoice));
  await worker.rest();
  expect([live(company, "contact_activity_logs", log), live(company, "invoices", invoice)]).toEqual([
    true,
    true,
  ]);
  expect(inboxOf(worker.mirror)).toEqual([
    "contact-activity-logs.created done inserted",
    "invoices.paid done inserted",
  ]);
  expect((await worker.run()).outcome).toBe("complete");
  await worker.rest();
  expectEqual(company);
});
