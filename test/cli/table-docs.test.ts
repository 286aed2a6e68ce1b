import path from "node:path";
import { describe, expect, test } from "vitest";
import { fakturoid } from "../../connectors/fakturoid/declaration.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { renderTableDocs, tableDocs, type TableDoc } from "../../src/cli/commands/connector-commands.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { temporaryFolder } from "../support/program/cli.ts";
import type { Db } from "../../src/store/database.ts";
import { publish, reading } from "../support/export/published.ts";

const docs = tableDocs(declaration);
const named = (table: string): TableDoc => {
  const doc = docs.find((each) => each.table === table);
  if (!doc) throw new Error(`${table} is not documented`);
  return doc;
};

const columnsOf = (db: Db, table: string) =>
  db.prepare("SELECT name, type FROM pragma_table_info(?)").raw().all(table) as [string, string][];
const documented = (place: string) => docs.filter((one) => [place, "both"].includes(one.place));

describe("schema --tables", () => {
  test("describes exactly the tables and columns of a mirror and of a report, with the types that the report declares", async () => {
    using mirror = await openMirror(path.join(temporaryFolder(), "acme.db"), declaration);
    const { file } = await publish(mirror);
    const report = reading(file);
    for (const { table, columns, place } of docs) {
      const names = columns.map(({ name }) => name).toSorted();
      const there = columnsOf(mirror.db, table).map(([name]) => name);
      if (place !== "report") expect([table, ...names]).toEqual([table, ...there.toSorted()]);
      const declared = columns.flatMap(({ name, report_type: type }) =>
        type === null ? [] : [[name, type]],
      );
      // A view declares no types.
      const shown = (rows: string[][]) => (table.startsWith("v_") ? rows.map(([name]) => name) : rows);
      if (place !== "mirror")
        expect([table, ...shown(declared)]).toEqual([table, ...shown(columnsOf(report, table))]);
    }
    const objects = `SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'`;
    const namesIn = (db: Db) => db.prepare<[], string>(objects).pluck().all().toSorted();
    const inMirror = documented("mirror").map(({ table }) => table);
    const own = namesIn(mirror.db).filter((name) => !name.startsWith("_"));
    expect(inMirror).toEqual(expect.arrayContaining(own));
    const inReport = documented("report").map(({ table }) => table);
    expect(inReport.toSorted()).toEqual(namesIn(report));
  });

  test("says where a record's parts and references lead, and refers only to tables there are", () => {
    const [owner, place] = named("invoice_items").columns;
    expect(owner).toMatchObject({ name: "invoice_id", references: "invoices" });
    expect(place?.name).toBe("position");
    const tables = new Set(docs.map(({ table }) => table));
    const references = docs.flatMap(({ columns }) =>
      columns.flatMap(({ references: to }) => (to === null ? [] : [to])),
    );
    expect(references.length).toBeGreaterThan(50);
    expect(references.filter((table) => !tables.has(table))).toEqual([]);
  });

  test("speaks of another connector's tables alone", () => {
    const text = renderTableDocs(tableDocs(fakturoid));
    expect(text).toContain("## invoice_payments");
    expect(text).not.toContain("`document_type`");
  });

  test("as Markdown has a heading and a row for each table and column, on one line each", () => {
    const lines = renderTableDocs(docs).split("\n");
    expect(lines.filter((line) => line.startsWith("## "))).toHaveLength(docs.length);
    const rows = lines.filter((line) => line.startsWith("| ") && !line.startsWith("| column"));
    expect(rows).toHaveLength(docs.flatMap(({ columns }) => columns).length);
    for (const row of rows) expect(row.replaceAll(String.raw`\|`, "").split("|")).toHaveLength(7);
    expect(rows.join()).toContain("| op | TEXT |  |  | What happened. Known values: insert, update, delete");
  });
});
