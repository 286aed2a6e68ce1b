import path from "node:path";
import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { renderTableDocs, tableDocs, type TableDoc } from "../../src/cli/mirror/table-docs.ts";
import { openMirror } from "../../src/state/mirror.ts";
import { temporaryFolder } from "../support/program/cli.ts";
import { publish, reading } from "../support/export/published.ts";

const docs = tableDocs(manifest);
const named = (table: string): TableDoc => {
  const doc = docs.find((each) => each.table === table);
  if (!doc) throw new Error(`${table} is not documented`);
  return doc;
};

describe("schema --tables", () => {
  test("describes exactly the columns that a mirror has, table by table", async () => {
    const mirror = await openMirror(path.join(temporaryFolder(), "acme.db"), manifest);
    try {
      const columnsOf = (table: string) =>
        mirror.db.prepare("SELECT name FROM pragma_table_info(?)").pluck().all(table) as string[];
      for (const { table, columns, place } of docs) {
        if (place === "report") continue;
        expect([table, ...columns.map(({ name }) => name).toSorted()]).toEqual([
          table,
          ...columnsOf(table).toSorted(),
        ]);
      }
      const typed = mirror.db
        .prepare(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
        )
        .pluck()
        .all() as string[];
      const documented = docs.filter(({ place }) => place === "both").map(({ table }) => table);
      expect(documented.toSorted()).toEqual(typed.toSorted());
    } finally {
      mirror.db.close();
    }
  });

  test("describes exactly the tables, views and columns that a report has, with the types it declares", async () => {
    const mirror = await openMirror(path.join(temporaryFolder(), "acme.db"), manifest);
    const { file } = await publish(mirror);
    mirror.close();
    const report = reading(file);
    const names = report
      .prepare("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'")
      .pluck()
      .all() as string[];
    const inReport = docs.filter(({ place }) => place !== "mirror");
    expect(inReport.map(({ table }) => table).toSorted()).toEqual(names.toSorted());
    for (const { table, columns } of inReport) {
      const types = report.prepare("SELECT name, type FROM pragma_table_info(?)").raw().all(table);
      const documented = columns.flatMap(({ name, report_type: type }) =>
        type === null ? [] : [[name, type]],
      );
      const isView = table.startsWith("v_");
      const compared = (rows: unknown[]) => (isView ? rows.map((row) => (row as string[])[0]) : rows);
      expect([table, ...compared(documented)]).toEqual([table, ...compared(types)]);
    }
  });

  test("says where a record's parts and references lead, and refers only to tables there are", () => {
    const items = named("invoice_items").columns;
    expect(items.slice(0, 2)).toMatchObject([
      { name: "invoice_id", references: "invoices" },
      { name: "position" },
    ]);
    const tables = new Set(docs.map(({ table }) => table));
    const references = docs.flatMap(({ columns }) =>
      columns.flatMap(({ references: to }) => (to === null ? [] : [to])),
    );
    expect(references.length).toBeGreaterThan(50);
    expect(references.filter((table) => !tables.has(table))).toEqual([]);
  });

  test("as Markdown has a heading and a row for each table and column, on one line each", () => {
    const lines = renderTableDocs(docs).split("\n");
    expect(lines.filter((line) => line.startsWith("## "))).toHaveLength(docs.length);
    const rows = lines.filter((line) => line.startsWith("| ") && !line.startsWith("| column"));
    expect(rows).toHaveLength(docs.flatMap(({ columns }) => columns).length);
    for (const row of rows) expect(row.replaceAll(String.raw`\|`, "").split("|")).toHaveLength(7);
    expect(lines).toContain(
      "| op | TEXT |  |  | What happened. Known values: insert, update, delete, event. |",
    );
  });
});
