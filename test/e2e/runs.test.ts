import { describe, expect, test } from "vitest";
import { hourMs, minuteMs } from "../../src/base/clock.ts";
import {
  aCompany,
  aMirroredCompany,
  sync,
  type Company,
  type SyncOptions,
} from "../support/company/company.ts";
import { count, dump, expectEqual, expectReplayable, look } from "../support/truth/equal.ts";
import { floorOf, truthOf, spentOn, documentTables } from "../support/truth/truth.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { readHealth } from "../../src/status/mirror-health.ts";
import { jsonReply } from "../support/company/proxy.ts";
import { publish, reading, rowsOf } from "../support/export/published.ts";

describe("a first run", () => {
  test("I11 leaves a mirror equal to the service, column by column, and costs exactly the floor: each list and page once, one detail for each document, one list for each parent", async () => {
    const company = await aCompany();
    const report = await sync(company);
    expect(report).toMatchObject({ outcome: "complete", troubles: [], new_columns: [], missing_fields: [] });
    const floor = floorOf(expectEqual(company));
    const spent = spentOn(company.proxy.asked);
    expect(spent.lists).toEqual(floor.lists);
    expect(spent.children).toEqual(floor.children);
    expect(spent.details).toEqual(floor.details);
    expect(report.requests).toMatchObject({
      total: company.proxy.asked.length,
      list: floor.lists.length,
      detail: floor.details.length,
      child: floor.children.length,
      confirm: 0,
      retried: 0,
      rate_limited: 0,
    });
    const size = truthOf(company.sandbox).get("invoices")?.size;
    const counts = { inserted: size, updated: 0, hydrated: size, unchanged: 0, provisional: 0 };
    expect(report.resources["invoices"]).toMatchObject(counts);
  });

  test("of an empty company is complete, and so is the next", async () => {
    const company = await aCompany({ records: 0 });
    expect((await sync(company)).outcome).toBe("complete");
    expectEqual(company);
    expect((await sync(company)).outcome).toBe("complete");
  });
});

test("I2 I7 a run after which nothing changed writes to no table but the runs, and asks for lists only; --full reads every detail and every child list again, and changes nothing people see", async () => {
  const company = await aMirroredCompany();
  const before = dump(company.file);
  const asked = company.proxy.asked.length;
  const report = await sync(company, { parentsPerRun: "auto" });
  expect(dump(company.file)).toEqual(before);
  const floor = floorOf(truthOf(company.sandbox));
  const lists = { lists: floor.lists, details: [], children: [] };
  expect(spentOn(company.proxy.asked.slice(asked))).toEqual(lists);
  expect(report.requests).toMatchObject({ detail: 0, confirm: 0, total: floor.lists.length });
  expect(count(company.file, "SELECT count(*) FROM _runs")).toBe(2);

  const visible = () =>
    Object.entries(dump(company.file)).filter(([table]) => !/^_(fence_|runs|meta|parents)/.test(table));
  const shownBefore = visible();
  const askedBefore = company.proxy.asked.length;
  expect((await sync(company, { full: true })).outcome).toBe("complete");
  expect(visible()).toEqual(shownBefore);
  expect(spentOn(company.proxy.asked.slice(askedBefore))).toEqual(floor);
});

function health(company: Company) {
  return look(company.file, (db) => readHealth(db, declaration));
}

function aboutOf(file: string, fact: string): Map<string, string> {
  const rows = rowsOf(reading(file), `SELECT subject, value FROM _about WHERE fact = '${fact}'`);
  return new Map(rows.map(({ subject, value }) => [String(subject), String(value)]));
}

test("a first run that was stopped after its lists has every header, each provisional, and says so in status and report", async () => {
  const company = await aCompany();
  const truth = truthOf(company.sandbox);
  const { lists } = floorOf(truth);
  const stopped = await sync(company, { mostRequests: lists.length, concurrency: 1 });
  expect(stopped.outcome).toBe("stopped");
  const { resources } = health(company);
  const sizeOf = (name: string) => truth.get(name)?.size ?? 0;
  for (const table of documentTables) {
    const size = sizeOf(table);
    const headers = { live: size, expected: size, provisional: size };
    expect(resources.find(({ name }) => name === table)).toMatchObject(headers);
    expect(count(company.file, `SELECT count(*) FROM ${table} WHERE _detail_at IS NOT NULL`)).toBe(0);
  }
  const previews = documentTables.reduce((all, table) => all + sizeOf(table), 0);
  expect(count(company.file, "SELECT count(*) FROM _raw WHERE kind = 'preview'")).toBe(previews);
  const parents = sizeOf("clients") + sizeOf("suppliers") + sizeOf("business_cases");
  const logs = resources.find(({ name }) => name === "contact_activity_logs");
  expect(logs).toMatchObject({ parents_never_read: parents });
  expectReplayable(company);
  const { file } = await publish(company.file);
  const missing = aboutOf(file, "without_detail");
  const complete = aboutOf(file, "complete");
  const invoices = String(sizeOf("invoices"));
  expect([missing.get("invoices"), complete.get("invoices")]).toEqual([invoices, "no"]);
  expect([missing.get("invoice_items"), complete.get("invoice_items")]).toEqual([invoices, "no"]);
  expect([missing.get("clients"), complete.get("clients")]).toEqual(["0", "yes"]);
  expect(complete.get("document_payments")).toBe("no");
  expect(rowsOf(reading(file), "SELECT count(*) AS n FROM invoices")).toEqual([{ n: Number(invoices) }]);
  expect(rowsOf(reading(file), "SELECT * FROM v_number_gaps")).toEqual([]);
});

test.each([
  ["answered", []],
  ["refused", ["quotations"]],
] as const)(
  "a first run that will take long has its report made when its last list is %s, and goes on",
  async (_, refused: readonly string[]) => {
    const company = await aCompany({ records: 610 });
    company.proxy.obstruct(({ path }) => (refused.includes(path.slice(1)) ? jsonReply(403, {}) : undefined));
    const seen: unknown[] = [];
    const onListed = async (_report: unknown, isBeforeScrub: boolean) => {
      const { resources } = health(company);
      const documents = resources.filter(({ name }) => documentTables.some((table) => table === name));
      const unread = documents.filter(({ live, expected }) => live !== expected).map(({ name }) => name);
      const provisional = documents.reduce((all, one) => all + one.provisional, 0);
      const last = company.proxy.asked.at(-1)?.path;
      seen.push({ last, unread, hasMany: provisional > 500, isBeforeScrub });
    };
    const { lists } = floorOf(truthOf(company.sandbox));
    const mostRequests = lists.length + 40;
    const report = await sync(company, { onListed, mostRequests, concurrency: 1 });
    expect(seen).toEqual([{ last: "/quotations", unread: refused, hasMany: true, isBeforeScrub: false }]);
    expect([report.outcome, report.requests.detail > 10]).toEqual(["stopped", true]);
    expect(company.said.filter((line) => line.includes("all lists are in")).length).toBe(1);
  },
);

const startAtMs = Date.UTC(2026, 10, 20, 12);
/** Tables that a quick run brings up to date where only what it looks at changed. */
const shown = [
  "invoices",
  "credit_notes",
  "orders",
  "quotations",
  "document_payments",
  "clients",
  "suppliers",
  "business_cases",
  "bank_accounts",
  "warehouse_outbound_receipts",
  "numerical_series",
  "warehouses",
  "price_list_items",
];

function withStatus(company: Company, table: string, status: string): number[] {
  const sql = `SELECT id FROM ${table} WHERE status = ? AND _deleted_at IS NULL ORDER BY id`;
  return look(company.file, (db) => db.prepare(sql).pluck().all(status)) as number[];
}

test("a quick run brings edits of all kinds within a few dozen requests, also of old open documents", async () => {
  const company = await aMirroredCompany({ records: 60 }, { startAtMs });
  const { control } = company.sandbox;
  const [paid = 0, credited = 0] = withStatus(company, "invoices", "overdue");
  control.alter("invoices", paid, { issueDate: "2025-02-03" });
  await sync(company, { startAtMs });
  const types = company.sandbox.control.events().length;
  control.trigger("invoices.paid", paid);
  control.trigger("credit-notes.created");
  for (const type of ["clients.updated", "suppliers.created", "business-cases.updated"])
    control.trigger(type);
  for (const type of ["invoices.created", "orders.created", "quotations.created"]) control.trigger(type);
  control.trigger("warehouse-outbound-receipts.created");
  const [waiting = 0] = withStatus(company, "quotations", "waiting");
  control.alter("quotations", waiting, { status: "accepted" });
  expect(control.events().length).toBeGreaterThan(types + 8);
  expect(credited).not.toBe(0);

  const report = await sync(company, { quick: true, startAtMs });
  expect(report).toMatchObject({ outcome: "complete", resumed: false, troubles: [] });
  expect(report.swept).toEqual({});
  expect(report.requests.total).toBeLessThanOrEqual(60);
  // Other receipts of the warehouse show its next number, and move no stock.
  expect(report.requests.detail).toBeLessThanOrEqual(12);
  expectEqual(company, { tables: shown });
});

// Fault: identity | the company is renamed | the sandbox | accepted and logged; its row follows (I10)
// Fault: identity | a rotated token while the service fails | a proxy, for the documents that would prove it | the run fails without a refusal; the next one takes the token
// Fault: identity | the token is rotated, the old one revoked | the sandbox | the new one is accepted and logged; the old one does no harm (I10)
test("a renamed company is accepted; a rotated token is, unless the service is in trouble; both are said, and the old one does no harm", async () => {
  const company = await aMirroredCompany();
  const { control, token, readToken } = company.sandbox;
  control.rename("Nové meno, s. r. o.");
  expect((await sync(company)).outcome).toBe("complete");
  expect(company.said.join("\n")).toContain("renamed");
  const rotated = { token: readToken, attempts: 1 };
  company.suffer({ kind: "status", status: 503, match: { path: "/invoices/" } });
  expect((await sync(company, rotated)).outcome).toBe("failed");
  company.recover();
  expect((await sync(company, rotated)).outcome).toBe("complete");
  expect(company.said.join("\n")).toContain("was replaced");
  control.revoke(token);
  expect((await sync(company)).outcome).toBe("unauthenticated");
  expect((await sync(company, rotated)).outcome).toBe("complete");
  expectEqual(company);
});

const inFlight = 6;

/** A run that is stopped when it asks for so many. */
async function stoppedRun(company: Company, request: number, options: SyncOptions): Promise<void> {
  const stop = new AbortController();
  const at = company.proxy.asked.length + request;
  const remove = company.proxy.obstruct(({ n }) => {
    if (n >= at) stop.abort();
    return undefined;
  });
  await sync(company, { ...options, signal: stop.signal });
  remove();
}

// Fault: process | a run is stopped 8 times, and resumed up to 19 hours later | the run's signal, at varied requests | only what was in flight is read twice; equal at the end
test("a run that was stopped is resumed 19 hours later: only what was in flight is read twice, also after 8 stops", async () => {
  const company = await aCompany({ records: 30 });
  const pauseMs = 19 * hourMs;
  const stops = 8;
  for (let n = 0; n < stops; n++)
    await stoppedRun(company, 6 + ((n * 7) % 12), {
      startAtMs: startAtMs + Math.floor((n * pauseMs) / stops),
    });
  const report = await sync(company, { startAtMs: startAtMs + pauseMs });
  expect(report).toMatchObject({ outcome: "complete", resumed: true });
  const { lists, details, children } = floorOf(truthOf(company.sandbox));
  const least = lists.length + details.length + children.length;
  // One request of each run asks who the company is.
  expect(company.proxy.asked.length).toBeLessThanOrEqual(least + stops * (inFlight + 1));
  expectEqual(company);
});

const share = 12;

// Fault: process | runs of a chain are stopped by a limit, a signal and a kill | `parents_per_run: N` | the chain is one share of N, and no parent's list is read twice
test("a chain of stopped runs reads one share of parents' lists, and none twice; the next chain reads others", async () => {
  const company = await aMirroredCompany({}, { startAtMs: startAtMs - hourMs });
  const { lists, children } = floorOf(truthOf(company.sandbox));
  const chain = async (atMs: number) => {
    const asked = company.proxy.asked.length;
    const options = { parentsPerRun: share, startAtMs: atMs };
    await stoppedRun(company, lists.length + 4, options);
    const limited = await sync(company, { ...options, mostRequests: 5 });
    // The clock was set back: what was read is known by its run.
    await stoppedRun(company, 3, { ...options, startAtMs: atMs - minuteMs });
    const last = await sync(company, { ...options, concurrency: 1 });
    expect([limited.outcome, last.outcome]).toEqual(["stopped", "complete"]);
    return spentOn(company.proxy.asked.slice(asked)).children;
  };
  const first = await chain(startAtMs);
  const second = await chain(startAtMs + hourMs);
  for (const read of [first, second]) {
    expect(new Set(read).size).toBe(share);
    // Requests that were in flight when a run was stopped are sent again.
    expect(read.length).toBeLessThanOrEqual(share + 2 * inFlight);
  }
  expect(children.length).toBeGreaterThan(2 * share);
  expect(new Set([...first, ...second]).size).toBe(2 * share);
});
