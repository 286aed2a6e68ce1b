import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { readHealth } from "../../src/status/mirror-health.ts";
import { aCompany, sync, type Company } from "../support/company/company.ts";
import { differences } from "../support/truth/compare.ts";
import { count, expectEqual, expectReplayable, look } from "../support/truth/equal.ts";
import { jsonReply } from "../support/company/proxy.ts";
import { publish, reading, rowsOf } from "../support/export/published.ts";
import { ageOf, cents, daysBetween, grouped, monthOf, sum, units } from "../support/export/recount.ts";
import { documentTables, floorOf, truthOf } from "../support/truth/truth.ts";

const reportDay = "2026-11-20";

interface Preview {
  readonly clientId: number;
  readonly issueDate: string;
  readonly dueDate: string;
  readonly total: number;
  readonly totalWithVat: number;
  readonly toBePaid: number;
  readonly status: string;
  readonly type: string;
  readonly currency: { readonly symbol: string };
}

/** What the service's own list shows. */
async function previewsOf({ sandbox }: Company, list: string): Promise<Preview[]> {
  const answer = await fetch(`${sandbox.url}${list}?perPage=500`, {
    headers: { Authorization: `Bearer ${sandbox.token}`, Accept: "application/json" },
  });
  return ((await answer.json()) as { data: Preview[] }).data;
}

/** A first run that ends when every list is read. */
async function stoppedAfterLists(company: Company): Promise<void> {
  const { lists } = floorOf(truthOf(company.sandbox));
  const report = await sync(company, { mostRequests: lists.length, concurrency: 1 });
  expect(report.outcome).toBe("stopped");
}

function health(company: Company) {
  return look(company.file, (db) => readHealth(db, manifest));
}

/** What the report says of its tables. */
function aboutOf(file: string, fact: string): Map<string, string> {
  const rows = rowsOf(reading(file), `SELECT subject, value FROM _about WHERE fact = '${fact}'`);
  return new Map(rows.map(({ subject, value }) => [String(subject), String(value)]));
}

/** Amounts in EUR cents are known where the currency is the euro. */
function euroSum(previews: readonly Preview[], amount: (one: Preview) => number): number | null {
  const isKnown = previews.every(({ currency }) => currency.symbol === "EUR");
  return isKnown ? units(sum(previews.map((one) => cents(amount(one))))) : null;
}

const age = ({ dueDate }: Preview) => ageOf(Math.max(daysBetween(dueDate, reportDay), 0));
/** Those that are revenue. */
const earned = (previews: readonly Preview[]) => previews.filter(({ type }) => type !== "payment_receipt");
const inUnits = (previews: readonly Preview[], amount: (one: Preview) => number) =>
  units(sum(previews.map((one) => cents(amount(one)))));

/** A view's amounts by its column `key`. */
function amountsOf(report: ReturnType<typeof reading>, sql: string) {
  return new Map(rowsOf(report, sql).map(({ key, ...amounts }) => [String(key), amounts]));
}

function summed<T>(groups: ReadonlyMap<string, readonly Preview[]>, amounts: (all: readonly Preview[]) => T) {
  return new Map([...groups].map(([key, all]) => [key, amounts(all)]));
}

describe("a first run that was stopped after its lists", () => {
  test("has every header, each provisional, and says so in status and report", async () => {
    const company = await aCompany();
    await stoppedAfterLists(company);
    const truth = truthOf(company.sandbox);
    const { resources } = health(company);
    for (const table of documentTables) {
      const size = truth.get(table)?.size ?? 0;
      expect(resources.find(({ name }) => name === table)).toMatchObject({
        live: size,
        expected: size,
        provisional: size,
      });
      expect(count(company.file, `SELECT count(*) FROM ${table} WHERE _detail_at IS NOT NULL`)).toBe(0);
    }
    expect(count(company.file, "SELECT count(*) FROM _raw WHERE kind = 'preview'")).toBe(
      documentTables.reduce((all, table) => all + (truth.get(table)?.size ?? 0), 0),
    );
    const sizeOf = (name: string) => truth.get(name)?.size ?? 0;
    const parents = sizeOf("clients") + sizeOf("suppliers") + sizeOf("business_cases");
    expect(resources.find(({ name }) => name === "contact_activity_logs")).toMatchObject({
      parents_never_read: parents,
    });
    expectReplayable(company);
    const { file } = await publish(company.file);
    const missing = aboutOf(file, "without_detail");
    const complete = aboutOf(file, "complete");
    const invoices = String(truth.get("invoices")?.size);
    expect([missing.get("invoices"), complete.get("invoices")]).toEqual([invoices, "no"]);
    expect([missing.get("invoice_items"), complete.get("invoice_items")]).toEqual([invoices, "no"]);
    expect([missing.get("clients"), complete.get("clients")]).toEqual(["0", "yes"]);
    expect(complete.get("document_payments")).toBe("no");
    expect(rowsOf(reading(file), "SELECT count(*) AS n FROM invoices")).toEqual([{ n: Number(invoices) }]);
    expect(rowsOf(reading(file), "SELECT * FROM v_number_gaps")).toEqual([]);
  });

  test("has its receivables and its revenue as the service's lists show them, and no partial sum in EUR", async () => {
    const company = await aCompany({ records: 60 });
    await stoppedAfterLists(company);
    const invoices = await previewsOf(company, "/invoices");
    const creditNotes = await previewsOf(company, "/credit-notes");
    const report = reading((await publish(company.file)).file);
    const open = invoices.filter(({ toBePaid, status }) => toBePaid > 0 && status !== "will_not_be_paid");
    expect(open.some(({ currency }) => currency.symbol !== "EUR")).toBe(true);
    const receivables = grouped(open, (one) => `${one.clientId} ${one.currency.symbol} ${age(one)}`);
    const shown = amountsOf(
      report,
      "SELECT client_id || ' ' || currency || ' ' || age AS key, invoices, to_be_paid, to_be_paid_eur FROM v_receivables",
    );
    expect(shown).toEqual(
      summed(receivables, (all) => ({
        invoices: all.length,
        to_be_paid: inUnits(all, (one) => one.toBePaid),
        to_be_paid_eur: euroSum(all, (one) => one.toBePaid),
      })),
    );
    const months = grouped(
      [...invoices, ...creditNotes],
      (one) => `${monthOf(one.issueDate)} ${one.currency.symbol}`,
    );
    const revenue = amountsOf(
      report,
      "SELECT month || ' ' || currency AS key, revenue, revenue_eur, revenue_with_vat FROM v_revenue_by_month",
    );
    expect(revenue).toEqual(
      summed(months, (all) => ({
        revenue: inUnits(earned(all), (one) => one.total),
        revenue_eur: euroSum(earned(all), (one) => one.total),
        revenue_with_vat: inUnits(earned(all), (one) => one.totalWithVat),
      })),
    );
  });

  test("goes on with the details, and ends equal to the service, complete, and with the log of both", async () => {
    const company = await aCompany();
    await stoppedAfterLists(company);
    const inserts = count(company.file, "SELECT count(*) FROM _changes");
    await publish(company.file, { way: "changes" });
    for (let run = 0; run < 50; run++) {
      const { outcome } = await sync(company, { mostRequests: 60 });
      expectReplayable(company);
      if (outcome === "complete") break;
    }
    expectEqual(company);
    expect(
      count(company.file, "SELECT count(*) FROM _changes WHERE seq <= ? AND op <> 'insert'", inserts),
    ).toBe(0);
    const { file, way } = await publish(company.file, { way: "changes" });
    expect(way).toBe("changes");
    const byChanges = contentOf(file);
    await publish(company.file, { force: true, way: "anew" });
    expect(contentOf(file)).toEqual(byChanges);
    expect([...aboutOf(file, "complete").values()].filter((value) => value !== "yes")).toEqual([]);
    expect(health(company).resources.every(({ provisional }) => provisional === 0)).toBe(true);
  });

  test("finds records that are deleted and changed before their details are read", async () => {
    const company = await aCompany();
    await stoppedAfterLists(company);
    const { control } = company.sandbox;
    const [first = 0, second = 0] = [...(truthOf(company.sandbox).get("orders")?.keys() ?? [])].map(Number);
    control.remove("orders", first);
    control.alter("orders", second, { issueDate: "2026-11-19" });
    await sync(company);
    expect((await sync(company)).outcome).toBe("complete");
    expect(look(company.file, (db) => differences(db, truthOf(company.sandbox)))).toEqual([]);
    expectReplayable(company);
    const { file } = await publish(company.file);
    expect(rowsOf(reading(file), "SELECT resource, id FROM deleted_records")).toContainEqual({
      resource: "orders",
      id: first,
    });
  });
});

/** All rows of all tables of a report, but what says when it was made. */
function contentOf(file: string): Record<string, unknown[]> {
  const db = reading(file);
  const names = rowsOf(
    db,
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
  );
  return Object.fromEntries(
    names.map(({ name }) => [
      name,
      rowsOf(db, `SELECT * FROM "${name}"`).filter((row) => row["fact"] !== "published_at"),
    ]),
  );
}

test("a first run counts each record once: inserted when it was listed, hydrated when its detail came", async () => {
  const company = await aCompany();
  const { resources } = await sync(company);
  const size = truthOf(company.sandbox).get("invoices")?.size ?? 0;
  expect(resources["invoices"]).toMatchObject({
    inserted: size,
    updated: 0,
    hydrated: size,
    unchanged: 0,
    provisional: 0,
  });
});

test("a run that follows says how many rows got their record, and how many still lack it", async () => {
  const company = await aCompany();
  await stoppedAfterLists(company);
  const size = truthOf(company.sandbox).get("invoices")?.size ?? 0;
  const stopped = await sync(company, { mostRequests: 8, resources: ["invoices"] });
  const { hydrated = 0, provisional = 0 } = stopped.resources["invoices"] ?? {};
  expect(hydrated).toBeGreaterThan(0);
  expect(hydrated + provisional).toBe(size);
  expect(stopped.resources["invoices"]).toMatchObject({ inserted: 0, updated: 0 });
});

test("a first run that will take long has its report made when the lists are in, and goes on", async () => {
  const company = await aCompany({ records: 610 });
  const seen: unknown[] = [];
  const onListsRead = async () => {
    const { resources } = health(company);
    const documents = resources.filter(({ name }) => documentTables.some((table) => table === name));
    seen.push(documents.every(({ live, expected }) => live === expected));
    seen.push(documents.reduce((all, { provisional }) => all + provisional, 0) > 600);
  };
  const report = await sync(company, { onListsRead });
  expect(seen).toEqual([true, true]);
  expect(report.outcome).toBe("complete");
  const later = await sync(company, { onListsRead });
  expect(later.outcome).toBe("complete");
  expect(seen.length).toBe(2);
  expect(company.said.filter((line) => line.includes("all lists are in")).length).toBe(1);
});

test("the report of the lists is made, too, when the last list to be answered is refused", async () => {
  const company = await aCompany({ records: 610 });
  const last = manifest.resources
    .flatMap(({ list }) => (list.kind === "whole" || list.kind === "paged" ? [list.path] : []))
    .at(-1);
  let isPublished = false;
  let detailsBefore = 0;
  company.proxy.obstruct(({ path }) => {
    if (/\/\d+$/.test(path) && !isPublished) detailsBefore += 1;
    return path === last ? jsonReply(403, { message: "This action is unauthorized." }) : undefined;
  });
  const stop = new AbortController();
  const onListsRead = async () => {
    isPublished = true;
    stop.abort();
  };
  await sync(company, { concurrency: 1, onListsRead, signal: stop.signal });
  expect({ isPublished, detailsBefore }).toEqual({ isPublished: true, detailsBefore: 0 });
});
