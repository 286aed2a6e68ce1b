import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { readHealth } from "../../src/status/mirror-health.ts";
import { aCompany, sync, type Company } from "../support/company/company.ts";
import { count, expectReplayable, look } from "../support/truth/equal.ts";
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
