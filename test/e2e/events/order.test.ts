import { describe, expect, test } from "vitest";
import { aCompany, aMirroredCompany, type Company } from "../../support/company/company.ts";
import { count, expectEqual, expectTombstonesTrue, serviceIds, lastId } from "../../support/truth/equal.ts";
import { createDrivenClock } from "../../support/rate-limit/rate-limit.ts";
import { eventOf, inboxOf, startWorker, until, waitingRows } from "../../support/mirror/event-worker.ts";

const live = (company: Company, table: string, id: number) =>
  count(company.file, `SELECT count(*) FROM "${table}" WHERE id = ? AND _deleted_at IS NULL`, id) === 1;

const asksFor = (company: Company, path: string) =>
  company.proxy.asked.filter((asked) => asked.path === path).length;

const mirrored = (options: { readonly startAtMs?: number } = {}) => aMirroredCompany({}, options);

describe("the answer of the service counts, in whatever order events arrive", () => {
  // Fault: webhook | a deletion, and an older update after it | events in another order | the record is deleted
  test("a deletion and a late update: deleted", async () => {
    const company = await mirrored();
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

  test("an update and the deletion after it: deleted, in either order and in one transaction", async () => {
    const company = await mirrored();
    const worker = await startWorker(company);
    for (const order of [
      ["updated", "deleted"],
      ["deleted", "updated"],
    ] as const) {
      const id = lastId(company, "orders");
      company.sandbox.control.remove("orders", id);
      worker.deliver(...order.map((change) => eventOf(`orders.${change}`, id)));
      await worker.rest();
      expect(live(company, "orders", id)).toBe(false);
    }
    expectTombstonesTrue(company);
  });

  // Fault: webhook | a forged deletion event of a live record | a delivery | one read, and nothing is deleted (I5)
  test("I5: a forged deletion event leads to a read and deletes nothing", async () => {
    const company = await mirrored();
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
    const company = await mirrored();
    const worker = await startWorker(company);
    worker.deliver(eventOf("contact-activity-logs.created", 999_999), eventOf("clients.updated", 888_888));
    await worker.rest();
    expect(new Set(inboxOf(worker.mirror))).toEqual(
      new Set(["contact-activity-logs.created done absent", "clients.updated done absent"]),
    );
    expectEqual(company);
  });
});

describe("I4: an event that comes while its record is being read", () => {
  test("stays waiting, and causes another read", async () => {
    const company = await mirrored();
    const worker = await startWorker(company);
    const id = lastId(company, "clients");
    const path = `/clients/${id}`;
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    let isAnswered = false;
    const remove = company.proxy.obstruct(async (asked, passOn) => {
      if (asked.path !== path) return undefined;
      remove();
      const reply = await passOn();
      isAnswered = true;
      await held;
      return reply;
    });
    worker.deliver(eventOf("clients.updated", id));
    await until(() => isAnswered);
    company.sandbox.control.alter("clients", id, { name: "Nové meno" });
    worker.deliver(eventOf("clients.updated", id));
    letGo();
    await until(() => inboxOf(worker.mirror).some((row) => row.endsWith("done unchanged")));
    await worker.rest();
    expect(asksFor(company, path)).toBe(2);
    expect(inboxOf(worker.mirror)).toEqual([
      "clients.updated done unchanged",
      "clients.updated done updated",
    ]);
    expectEqual(company, { tables: ["clients"] });
  });
});

describe("a recheck, a minute after the first read", () => {
  // Fault: webhook | an event is sent before its own change is committed | the sandbox | the recheck a minute later finds the change
  test("finds what was committed after the first read; no third read follows", async () => {
    const clock = createDrivenClock();
    const company = await mirrored({ startAtMs: clock.nowMs() });
    const worker = await startWorker(company, { clock });
    const id = lastId(company, "clients");
    worker.deliver(eventOf("clients.updated", id), eventOf("clients.updated", id));
    await worker.rest();
    expect(waitingRows(worker.mirror)).toEqual([`clients id:${id} detail ready recheck`]);
    company.sandbox.control.alter("clients", id, { name: "Až po chvíli" });
    await clock.advance(59_000);
    expect(asksFor(company, `/clients/${id}`)).toBe(1);
    await clock.advance(1_500);
    await worker.rest();
    expectEqual(company, { tables: ["clients"] });
    expect(waitingRows(worker.mirror)).toEqual([]);
    expect(asksFor(company, `/clients/${id}`)).toBe(2);
  });

  test("finds a record whose event came before it could be read", async () => {
    const clock = createDrivenClock();
    const company = await mirrored({ startAtMs: clock.nowMs() });
    const worker = await startWorker(company, { clock });
    const next = lastId(company, "suppliers") + 1;
    worker.deliver(eventOf("suppliers.created", next));
    await worker.rest();
    expect(live(company, "suppliers", next)).toBe(false);
    const made = company.sandbox.control.create("suppliers", { name: "Oneskorený" });
    expect(made["id"]).toBe(next);
    await clock.advance(61_000);
    await worker.rest();
    expect(live(company, "suppliers", next)).toBe(true);
  });

  test("is not lost when another event arrives in between: that one gets its own", async () => {
    const clock = createDrivenClock();
    const company = await mirrored({ startAtMs: clock.nowMs() });
    const worker = await startWorker(company, { clock });
    const id = lastId(company, "clients");
    worker.deliver(eventOf("clients.updated", id));
    await worker.rest();
    await clock.advance(30_000);
    worker.deliver(eventOf("clients.updated", id));
    await worker.rest();
    expect(asksFor(company, `/clients/${id}`)).toBe(2);
    await clock.advance(59_000);
    expect(asksFor(company, `/clients/${id}`)).toBe(2);
    await clock.advance(2_000);
    await worker.rest();
    expect(asksFor(company, `/clients/${id}`)).toBe(3);
    expect(waitingRows(worker.mirror)).toEqual([]);
  });
});

const payable = ["document_payments", "invoices", "proformas", "credit_notes"];

test("a payment created and one deleted: its document is read as well", async () => {
  const company = await mirrored();
  const worker = await startWorker(company);
  const { events } = company.sandbox.control.trigger("document-payments.created");
  const paid = events.find(({ type }) => type === "document-payments.created")?.resource.id ?? 0;
  worker.deliver(eventOf("document-payments.created", paid));
  await worker.rest();
  expect(live(company, "document_payments", paid)).toBe(true);
  expectEqual(company, { tables: payable });
  company.sandbox.control.remove("document_payments", paid);
  worker.deliver(eventOf("document-payments.deleted", paid));
  await worker.rest();
  expect(live(company, "document_payments", paid)).toBe(false);
  expectEqual(company, { tables: payable });
});

test("a document found deleted after the event of its payment: CRM events that show it are read as well", async () => {
  const company = await mirrored();
  const worker = await startWorker(company);
  const shown = `SELECT metadata_related_document_document_id FROM contact_activity_logs
    WHERE metadata_related_document_document_type = 'invoice' AND metadata_related_document_document_id
      IN (SELECT document_id FROM document_payments WHERE document_type = 'invoice')`;
  const invoice = count(company.file, shown);
  const paid = "SELECT id FROM document_payments WHERE document_type = 'invoice' AND document_id = ?";
  const payment = count(company.file, paid, invoice);
  company.sandbox.control.remove("invoices", invoice);
  worker.deliver(eventOf("document-payments.deleted", payment));
  await worker.rest();
  expect(live(company, "invoices", invoice)).toBe(false);
  worker.deliver(eventOf("invoices.deleted", invoice));
  await worker.rest();
  expect(payment).toBeGreaterThan(0);
  expectEqual(company, { tables: ["invoices", "contact_activity_logs", "numerical_series"] });
});

test("a deleted status changes its cases: each of them is read, in the lane of events", async () => {
  const company = await mirrored();
  const worker = await startWorker(company);
  const linked = "SELECT count(*) FROM business_cases WHERE status_id = ?";
  const status =
    serviceIds(company, "business_case_statuses").find((id) => count(company.file, linked, id) > 0) ?? 0;
  company.sandbox.control.remove("business_case_statuses", status);
  worker.deliver(eventOf("business-case-statuses.deleted", status));
  await worker.rest();
  expect(status).toBeGreaterThan(0);
  expect(count(company.file, linked, status)).toBe(0);
  expectEqual(company, { tables: ["business_cases", "business_case_statuses"] });
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
