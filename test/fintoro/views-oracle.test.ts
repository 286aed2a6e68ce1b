import * as fc from "fast-check";
import { expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { publishedCompany, sorted, type PublishedCompany } from "../support/export/published.ts";
import type { Dict, Records, Row } from "../support/export/recount.ts";
import { testDay as today } from "../support/sandbox/control.ts";
import type { Truth } from "../support/truth/truth.ts";
import { documentOracles } from "./oracle/documents.ts";
import { operationOracles } from "./oracle/operations.ts";
import { salesOracles } from "./oracle/sales.ts";
import { vatOracles } from "./oracle/vat.ts";

const oracles = { ...salesOracles, ...vatOracles, ...documentOracles, ...operationOracles };

/** Live records of a mirror as received. */
function rawRecords({ db }: Mirror): Records {
  return new Map(
    declaration.resources.map(({ name }): [string, Dict[]] => {
      const sql = `SELECT r.json FROM _raw r JOIN ${name} t ON t.id = r.id
        WHERE r.resource = ? AND t._deleted_at IS NULL ORDER BY r.id`;
      const texts = db.prepare(sql).pluck().all(name) as string[];
      return [name, texts.map((text) => JSON.parse(text) as Dict)];
    }),
  );
}

const deletable = `invoices credit_notes proformas clients orders quotations suppliers
  warehouse_inbound_receipts`.split(/\s+/);

const goneFrom = (share: number) => (truth: Truth) => {
  const some = (table: string) =>
    [...(truth.get(table)?.keys() ?? [])].filter((_, i) => i % share === share - 2);
  return Object.fromEntries(deletable.map((table) => [table, some(table)]));
};

/** Returns the views that had rows; each has the columns that it documents, in that order. */
function expectAnswers(company: PublishedCompany): string[] {
  const books = { records: rawRecords(company.mirror), today };
  return Object.entries(oracles).flatMap(([view, oracle]) => {
    const expected = oracle(books);
    const documented = declaration.views?.find(({ name }) => name === view)?.columns.map(({ name }) => name);
    if (expected.length > 0) expect(Object.keys(company.rows(view)[0] ?? {})).toEqual(documented);
    const columns = Object.keys(expected[0] ?? {});
    const found = company
      .rows(view)
      .map((row) => Object.fromEntries(columns.map((name) => [name, row[name] ?? null])));
    expect([view, ...sorted(found as Row[])]).toEqual([view, ...sorted(expected)]);
    return expected.length > 0 ? [view] : [];
  });
}

test("every view of amounts says what the raw records add up to in whole cents, for any sandbox company, some of it deleted since", async () => {
  const anyCompany = fc.record({
    seed: fc.integer({ min: 1, max: 1_000 }),
    records: fc.constantFrom(60, 150, 400),
    share: fc.integer({ min: 3, max: 40 }),
  });
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyCompany, async ({ seed, records, share }) => {
      using company = await publishedCompany({ seed, records }, goneFrom(share));
      for (const view of expectAnswers(company)) seen.add(view);
    }),
    { numRuns: 3, examples: [[{ seed: 5, records: 400, share: 20 }]] },
  );
  expect([...seen].toSorted()).toEqual(Object.keys(oracles).toSorted());
});
