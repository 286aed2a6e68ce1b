import { expect, test, onTestFinished } from "vitest";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { lookupNames } from "../../../connectors/fintoro/sandbox/lookups/lookup-lists.ts";
import type { SentEvent } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { differences } from "../../support/truth/compare.ts";
import { aMirroredCompany, aCompany, sync, type Company } from "../../support/company/company.ts";
import {
  expectEqual,
  expectReplayable,
  expectTombstonesTrue,
  count,
  serviceIds,
  lastId,
} from "../../support/truth/equal.ts";
import {
  inboxOf,
  startWorker,
  waitingRows,
  pass,
  type RunningWorker,
  type WorkerOptions,
} from "../../support/mirror/event-worker.ts";
import { eventOf } from "../../support/program/deliveries.ts";
import { truthOf } from "../../support/truth/truth.ts";
import { eventually } from "../../support/eventually.ts";
import { DrivenClock } from "../../support/virtual/driven-clock.ts";
import { openDatabase } from "../../../src/store/database.ts";
import type { ServiceRequest, Transport } from "../../../src/connector/transport.ts";
import { hourMs } from "../../../src/base/clock.ts";
import { htmlPage, unavailable } from "../../support/company/proxy.ts";

/** No event is about them: the end of the test is soon enough. */
const lookups = new Set(lookupNames.map((name) => name.replaceAll("-", "_")));

const kept = new Set(["received-invoices.paid", "received-receipts.paid"]);

/**
 * What a record repeats of another (the warehouse's name in its items) changes in silence: the next list or scrub
 * shows it, no event does.
 */
function isAnnounced(difference: string, events: readonly SentEvent[]): boolean {
  if (difference === "...") return false;
  if (difference.includes("warehouse_name is")) return false;
  if (!difference.endsWith("_raw differs")) return true;
  return events.some(({ type, resource: { id } }) => {
    const rule = declaration.events.find((one) => one.type === type);
    return difference.startsWith(`${rule?.resource} ${id}:`);
  });
}

/** What a read after this event finds. */
function outcomeOf(type: string): string {
  if (type.endsWith(".created")) return "inserted";
  return type.endsWith(".deleted") ? "deleted" : "updated";
}

test("every event of the catalogue leads to the right read and the right rows: the mirror is as the service at once", async () => {
  const company = await aMirroredCompany({ records: 14 });
  // No minute passes, after which a record is read again for what its event announced too early.
  const worker = await startWorker(company, { clock: new DrivenClock(Date.now()) });
  using db = openDatabase(company.file);
  for (const { type } of declaration.events) {
    const { events } = company.sandbox.control.trigger(type);
    expect(events.map((event) => event.type)).toContain(type);
    const asked = company.proxy.asked.length;
    worker.deliver(...events);
    await worker.rest();
    if (kept.has(type)) expect(company.proxy.asked.length).toBe(asked);
    // A payment's event may have shown the document before.
    else if (!type.endsWith(".paid"))
      expect(inboxOf(worker.mirror)).toContain(`${type} done ${outcomeOf(type)}`);
    const truth = truthOf(company.sandbox);
    const tables = [...truth.keys()].filter((table) => !lookups.has(table));
    const wrong = tables.flatMap((table) => differences(db, truth, [table]));
    expect({ type, wrong: wrong.filter((what) => isAnnounced(what, events)) }).toEqual({ type, wrong: [] });
    if (wrong.length > 0) await worker.run({ full: true });
    await worker.rest();
  }
  expect(inboxOf(worker.mirror).filter((row) => !/ (done \w+|kept)$/.test(row))).toEqual([]);
  await worker.run();
  expectEqual(company);
  expectTombstonesTrue(company);
  expectReplayable(company);
});

const live = (company: Company, table: string, id: number) =>
  count(company.file, `SELECT count(*) FROM "${table}" WHERE id = ? AND _deleted_at IS NULL`, id) === 1;

// Fault: webhook | a deletion, and an older update after it | events in another order | the record is deleted
// Fault: webhook | a forged deletion event of a live record | a delivery | one read, and nothing is deleted (I5)
test("I5: the answer of the service counts: a late update brings nothing back, and a forged deletion leads to a read and deletes nothing", async () => {
  const company = await aMirroredCompany();
  const worker = await startWorker(company);
  const [gone, there] = [lastId(company, "orders"), lastId(company, "invoices")];
  company.sandbox.control.remove("orders", gone);
  for (const type of ["orders.deleted", "orders.updated"]) {
    worker.deliver(eventOf(type, gone));
    await worker.rest();
  }
  const asked = company.proxy.asked.length;
  worker.deliver(eventOf("invoices.deleted", there), eventOf("invoices.deleted", there));
  await worker.rest();
  const reads = company.proxy.asked.slice(asked).filter(({ path }) => path === `/invoices/${there}`);
  expect(reads).toHaveLength(1);
  expect([live(company, "orders", gone), live(company, "invoices", there)]).toEqual([false, true]);
  const ofOrder = ["orders.deleted done deleted", "orders.updated done absent"];
  const forged = "invoices.deleted done unchanged";
  expect(inboxOf(worker.mirror)).toEqual([...ofOrder, forged, forged]);
});

test("in a mirror that no run has filled, events bring their records, whatever they point to", async () => {
  const company = await aCompany();
  const worker = await startWorker(company);
  const [log = 0] = serviceIds(company, "contact_activity_logs");
  const [invoice = 0] = serviceIds(company, "invoices");
  worker.deliver(eventOf("contact-activity-logs.created", log), eventOf("invoices.paid", invoice));
  await worker.rest();
  const done = ["contact-activity-logs.created done inserted", "invoices.paid done inserted"];
  expect(inboxOf(worker.mirror)).toEqual(done);
  expect((await worker.run()).outcome).toBe("complete");
  await worker.rest();
  expectEqual(company);
});

/** Holds the answer of the first request to this path, once it is there, until the test releases it. */
function holdAnswer({ proxy }: Company, path: string): { readonly isHeld: () => boolean; letGo: () => void } {
  const { promise: released, resolve: letGo } = Promise.withResolvers<void>();
  let held = false;
  const remove = proxy.obstruct(async (asked, passOn) => {
    if (asked.path !== path) return undefined;
    remove();
    const reply = await passOn();
    held = true;
    await released;
    return reply;
  });
  return { isHeld: () => held, letGo };
}

// Fault: webhook | an event arrives while its record is being read | a delivery in the middle of a read | the record is read again (I4)
test("I4: an event that comes during the run's last read of its record is read as soon as that is done", async () => {
  const company = await aMirroredCompany();
  const worker = await startWorker(company);
  const [id = 0] = serviceIds(company, "orders");
  company.sandbox.control.alter("orders", id, { issueDate: "2026-11-03" });
  const read = holdAnswer(company, `/orders/${id}`);
  const run = worker.run();
  await eventually(read.isHeld, "the read is held");
  await eventually(() => waitingRows(worker.mirror).length === 1, "one item is left");
  company.sandbox.control.alter("orders", id, { note: "Počas čítania" });
  worker.deliver(eventOf("orders.updated", id));
  read.letGo();
  expect((await run).outcome).toBe("complete");
  await worker.rest();
  expect(inboxOf(worker.mirror)).toEqual(["orders.updated done updated"]);
  expectEqual(company, { tables: ["orders"] });
});

// Fault: process | serve is killed before its first run, with events of parents stored and not read | between ingest and run | the run that reads them first reads their CRM events as well
test("I11: the lists of parents that their events inserted are read by the same run", async () => {
  const company = await aCompany();
  // Its token is refused, so that events are stored and not read.
  const stored = await startWorker(company, { token: "1|nobody" });
  const types = { clients: "clients", suppliers: "suppliers", business_cases: "business-cases" };
  for (const [table, type] of Object.entries(types))
    stored.deliver(...serviceIds(company, table).map((id) => eventOf(`${type}.updated`, id)));
  await stored.stop();
  expect(await sync(company)).toMatchObject({ outcome: "complete" });
  expectEqual(company);
});

// Fault: data | a record whose parent the mirror never had | the sandbox | it is deleted with its parent
test("a log whose parent the mirror never had is deleted with it, when an event reports the parent's deletion", async () => {
  const company = await aMirroredCompany();
  const worker = await startWorker(company);
  const { control } = company.sandbox;
  const clientId = Number(control.create("clients", { name: "Nevidený", type: "company" })["id"]);
  const unseen = control.events().length;
  const note = { clientId, type: "note", metadata: { content: "Volal" } };
  const log = control.create("contact_activity_logs", note);
  worker.deliver(...control.events().slice(unseen));
  await worker.rest();
  const isLive = () => live(company, "contact_activity_logs", Number(log["id"]));
  expect(isLive()).toBe(true);
  const known = control.events().length;
  control.remove("clients", clientId);
  worker.deliver(...control.events().slice(known));
  await worker.rest();
  expect(isLive()).toBe(false);
  expectTombstonesTrue(company);
});

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
  expect(company.said.join("\n")).toContain("within a day");
  expect((await second.run()).outcome).toBe("complete");
  await second.rest();
  expectEqual(company, { tables: ["suppliers"] });
  expect(inboxOf(second.mirror).filter((row) => !/done (deleted|absent)$/.test(row))).toEqual([]);
});

/** Records the lane of each request; only events pass while the gate is shut. */
function gate() {
  const lanes: string[] = [];
  const waiting: (() => void)[] = [];
  let shut = false;
  const wrap = (transport: Transport): Transport => ({
    send: async (request: ServiceRequest) => {
      lanes.push(`${request.path} ${request.lane ?? ""}`);
      if (shut && request.lane !== "webhook") await new Promise<void>((resolve) => waiting.push(resolve));
      return transport.send(request);
    },
  });
  const open = () => {
    shut = false;
    for (const go of waiting.splice(0)) go();
  };
  return { lanes, wrap, waiting, shut: () => (shut = true), open };
}

test("an event's read uses the budget that is kept for events; its recheck waits for the budget and holds up no event", async () => {
  const company = await aMirroredCompany({ records: 20 });
  const clock = new DrivenClock();
  const { lanes, wrap, waiting, shut, open } = gate();
  const worker = await startWorker(company, { clock, wrap, concurrency: 4, resources: ["clients"] });
  // Before the event worker is stopped: waiting requests would hold it up.
  onTestFinished(open);
  worker.follow();
  const [late = 0, ...ids] = [...(truthOf(company.sandbox).get("clients")?.keys() ?? [])].map(Number);
  for (const id of ids) company.sandbox.control.alter("clients", id, { note: "first" }, { event: true });
  const done = () => inboxOf(worker.mirror).filter((row) => row.includes("done")).length;
  await eventually(() => done() === ids.length, "the events are done");
  expect(lanes.filter((line) => line.startsWith("/clients/") && !line.endsWith(" webhook"))).toEqual([]);
  shut();
  await clock.advance(61_000);
  await eventually(() => waiting.length === 2, "both wait");
  company.sandbox.control.alter("clients", late, { note: "in between" }, { event: true });
  await eventually(() => done() === ids.length + 1, "the late event is done");
  expect(waiting).toHaveLength(2);
  open();
  await pass(clock, worker, 30_000);
  const looks = lanes.filter((line) => line.endsWith(" list") && line.startsWith("/clients/"));
  expect(looks.toSorted()).toEqual(ids.map((id) => `/clients/${id} list`).toSorted());
});

const quick: WorkerOptions = { attempts: 1 };

async function mirrored() {
  const clock = new DrivenClock();
  const company = await aMirroredCompany({ records: 12 }, { startAtMs: clock.nowMs() });
  const worker = await startWorker(company, { ...quick, clock });
  return { clock, company, worker };
}

const state = ({ eventWorker }: RunningWorker) => eventWorker.state().state;
const reaches = (worker: RunningWorker, what: string) =>
  eventually(() => state(worker) === what, `the worker is ${what}`);

// Fault: service | away for half an hour: 503, broken connections, pages with 404 and 200 | a proxy, while events arrive | few requests, no attempt used up, every event is read afterwards
test("an outage of half an hour, in four ways: few requests, no attempt used up, nothing lost", async () => {
  const { clock, company, worker } = await mirrored();
  await reaches(worker, "working");
  const ways = [unavailable, "reset", htmlPage(404), htmlPage(200)] as const;
  company.proxy.obstruct(({ n }) => ways[n % ways.length]);
  const changed = serviceIds(company, "invoices").slice(0, 3);
  for (const id of changed) company.sandbox.control.alter("invoices", id, { note: "Počas výpadku" });
  worker.deliver(...changed.map((id) => eventOf("invoices.updated", id)));
  await reaches(worker, "unavailable");
  const asked = company.proxy.asked.length;
  await pass(clock, worker, hourMs / 2);
  expect(company.proxy.asked.length - asked).toBeLessThan(45);
  expect(waitingRows(worker.mirror).map((row) => row.split(" ")[3])).toEqual(["ready", "ready", "ready"]);
  expect(count(company.file, "SELECT max(attempts) FROM _work")).toBe(0);
  company.proxy.clear();
  await pass(clock, worker, 180_000);
  await reaches(worker, "working");
  await worker.rest();
  expectEqual(company, { tables: ["invoices"] });
  // That it begins and ends; in between once in a quarter of an hour.
  expect(company.said.filter((line) => /events are|cannot be reached/.test(line))).toHaveLength(4);
});

// Fault: identity | the daemon's token is another company's | the event worker's token | it reads nothing; a rotated token is taken (I10)
test("I10: with a token of another company nothing is read or written, it is tried again every five minutes, and a rotated one is taken", async () => {
  const company = await aCompany({ records: 12, companies: 2 });
  const clock = new DrivenClock();
  await sync(company, { startAtMs: clock.nowMs() });
  const token = company.sandbox.companies[1]?.token ?? "";
  const worker = await startWorker(company, { ...quick, clock, token });
  const [id = 0] = serviceIds(company, "clients");
  worker.deliver(eventOf("clients.updated", id));
  await reaches(worker, "identity");
  await pass(clock, worker, 21 * 60_000);
  expect(company.proxy.asked.filter(({ path }) => path.startsWith("/clients/"))).toEqual([]);
  const own = company.proxy.asked.filter(({ headers }) => headers.authorization === `Bearer ${token}`);
  expect(own).toHaveLength(5);
  expect(inboxOf(worker.mirror)).toEqual(["clients.updated waiting"]);
  expectEqual(company);
  await worker.stop();
  const rotated = await startWorker(company, { clock, token: company.sandbox.readToken });
  await rotated.rest();
  expect(company.said.join("\n")).toContain("was replaced");
  expect(inboxOf(rotated.mirror)).toEqual(["clients.updated done unchanged"]);
});

// Fault: disk | the mirror cannot be written for ten minutes | a read-only connection under the event worker | it pauses, and nothing is lost
test("a mirror that cannot be written pauses the event worker, and nothing is lost", async () => {
  const { clock, company, worker } = await mirrored();
  await reaches(worker, "working");
  const [id = 0] = serviceIds(company, "clients");
  company.sandbox.control.alter("clients", id, { name: "Nové" });
  worker.deliver(eventOf("clients.updated", id));
  worker.mirror.db.pragma("query_only = ON");
  await reaches(worker, "database");
  await pass(clock, worker, 600_000);
  expect(state(worker)).toBe("database");
  worker.mirror.db.pragma("query_only = OFF");
  await pass(clock, worker, 130_000);
  expect(state(worker)).toBe("working");
  expectEqual(company, { tables: ["clients"] });
});
