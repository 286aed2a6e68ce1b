import * as fc from "fast-check";
import { expect, test } from "vitest";
import { accountantMonth } from "../../connectors/fintoro/accountant-month.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import slovak from "../../connectors/fintoro/slovak.json" with { type: "json" };
import { monthChanges, type MonthChanges } from "../../src/export/package/month-changes.ts";
import { periodOfMonth, type MonthPeriod } from "../../src/export/plan/period.ts";
import { endOfLog } from "../../src/state/log-identity.ts";
import { overlayAsOf } from "../../src/state/as-of/overlays.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { openSnapshot, type Snapshot } from "../../src/state/mirror-snapshot.ts";
import { clockAt, publishedCompany } from "../support/export/published.ts";
import { put, remove } from "../support/mirror/store.ts";
import { seededRandom } from "../support/seeded-random.ts";

type Row = Record<string, unknown>;
type Invoice = Row & { id: number; issueDate: string; items: Row[] };

const shown = { ...declaration, views: [...(declaration.views ?? []), ...accountantMonth.sheets] };
const documentSheets = accountantMonth.sheets.filter(({ name }) => name in accountantMonth.changes.documents);

const openBooks = (file: string) => openSnapshot(file, shown, { reportDate: "2026-11-20" });

/** What a package of the month lists, by the documents' numbers; and its VAT, a text a row. */
function packageOf({ db }: Snapshot, { from, to }: MonthPeriod) {
  const rowsOf = (name: string, date: string) =>
    db.prepare(`SELECT * FROM ${name} WHERE ${date} BETWEEN ? AND ?`).all(from, to) as Row[];
  const documents = documentSheets.flatMap(({ name, columns }) =>
    rowsOf(name, "issue_date").map((row) =>
      Object.fromEntries(columns.map((column) => [column.name, row[column.name]])),
    ),
  );
  const vat = rowsOf("month_vat_documents", "issue_date").map((row) => JSON.stringify(Object.values(row)));
  return {
    documents: new Map(documents.map((row) => [row["number"], withoutNulls(row)])),
    vat: vat.toSorted(),
  };
}

const withoutNulls = (row: Row) =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));

/** The package that somebody has, corrected with the sheets of changes. */
function applied(
  { documents, vat }: ReturnType<typeof packageOf>,
  { changed, corrected }: MonthChanges,
  { from, to }: MonthPeriod,
) {
  for (const [number, fields] of Map.groupBy(changed, (row) => row["document"])) {
    const row: Row = { ...documents.get(fields.find(({ field }) => field === "number")?.["old"] ?? number) };
    for (const { field, old } of fields) documents.delete(field === "number" ? old : number);
    for (const { field, new: now } of fields) row[String(field)] = now;
    const day = String(row["issue_date"]);
    if (fields[0]?.["change"] !== "deleted" && day >= from && day <= to)
      documents.set(number, withoutNulls(row));
  }
  const rows = [...vat];
  for (const { code, ...row } of corrected) {
    const text = JSON.stringify(Object.values(row));
    if (code === 2) rows.push(text);
    else rows.splice(rows.indexOf(text), 1);
  }
  return { documents, vat: rows.toSorted() };
}

const jsonOf = (mirror: Mirror, id: number) =>
  JSON.parse(
    String(mirror.db.prepare("SELECT json FROM _raw_invoices WHERE id = ?").pluck().get(id)),
  ) as Invoice;

/** What people do to invoices of months that were handed over. */
function edit(mirror: Mirror, id: number, kind: number, step: number): void {
  const invoice = jsonOf(mirror, id);
  const write = (change: object) => put(mirror, "invoices", { ...invoice, ...change }, { source: "detail" });
  if (kind === 0) remove(mirror, "invoices", id);
  else if (kind === 1) write({ issueDate: `2026-0${1 + (step % 9)}-15` });
  else if (kind === 2) write({ id: 900_000 + step, number: `NEW${step}`, uuid: `new-${step}` });
  else if (kind === 3) write({ note: `a note that no sheet shows ${step}` });
  else if (kind === 4) write({ number: `R${step}` });
  else {
    const [line = {}, ...others] = invoice.items;
    const more = { unitPrice: 100 + step, total: 100 + step, totalWithVat: 123 + step };
    write({ items: [{ ...line, ...more }, ...others], total: Number(invoice["total"]) + step });
  }
}

/** Edits invoices of a made-up company, and compares both packages of each of its about a dozen months. */
async function expectCorrections(seed: number): Promise<void> {
  using company = await publishedCompany({ records: 80, seed });
  const { mirror } = company;
  const moment = { ...endOfLog(mirror.db), at: "2026-03-01T00:00:00.000Z" };
  const random = seededRandom(seed);
  const ids = mirror.db.prepare("SELECT id FROM invoices").pluck().all() as number[];
  for (const [step, id] of ids.entries())
    if (random.next() < 0.5) edit(mirror, id, Math.floor(random.next() * 7), step);
  const copy = `${mirror.db.name}.then`;
  await overlayAsOf(mirror.db.name, copy, declaration, moment, {
    clock: clockAt("2026-11-20"),
    signal: new AbortController().signal,
  });
  using then = openBooks(copy);
  using now = openBooks(mirror.db.name);
  const sql = ["invoices", "credit_notes"].map((table) => `SELECT substr(issue_date, 1, 7) FROM ${table}`);
  let stated = 0;
  const cells = new Set<unknown>();
  for (const month of now.db.prepare(sql.join(" UNION ")).pluck().all() as string[]) {
    const period = periodOfMonth(month);
    const changes = monthChanges(then, now, accountantMonth, period, null);
    stated += changes.changed.length;
    for (const row of monthChanges(then, now, accountantMonth, period, slovak).changed)
      if (row["field"] === "Typ" || row["field"] === "Prenos daňovej povinnosti")
        cells.add(row["old"]).add(row["new"]);
    expect(applied(packageOf(then, period), changes, period), month).toEqual(packageOf(now, period));
  }
  expect(stated).toBeGreaterThan(20);
  const inSlovak: ReadonlySet<unknown> = new Set([
    null,
    "faktúra",
    "dobropis",
    "daňový doklad k prijatej platbe",
    "áno",
    "nie",
  ]);
  expect([...cells].filter((cell) => !inSlovak.has(cell))).toEqual([]);
  expect([...cells]).toEqual(expect.arrayContaining(["faktúra", "nie"]));
}

test("for any company the package handed over and the sheets of changes give the new package, for every month", async () => {
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 10_000 }), expectCorrections), { numRuns: 1 });
});
