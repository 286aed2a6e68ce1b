import { readFileSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { readXlsx, type Sheet } from "hucre/xlsx";
import { describe, expect, test } from "vitest";
import { declaration as fintoro } from "../../connectors/fintoro/declaration.ts";
import type { ExportRequest } from "../../src/export/plan/export-request.ts";
import { columnName, createRowXml, excelDate } from "../../src/export/xlsx/sheet-xml.ts";
import { sheetName } from "../../src/export/write-workbook.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { exportOf } from "../support/export/export.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { put } from "../support/mirror/store.ts";
import { entriesOf } from "../support/export/zip.ts";

interface Workbook {
  readonly file: string;
  readonly sheets: readonly Sheet[];
  /** The XML of each part. */
  readonly parts: ReadonlyMap<string, string>;
}

async function workbookOf(mirror: Mirror, request: Partial<ExportRequest> = {}): Promise<Workbook> {
  const { out, files } = await exportOf(mirror, { format: "xlsx", ...request });
  const file = path.join(out, files[0] ?? "");
  const bytes = readFileSync(file);
  const { sheets } = await readXlsx(bytes);
  return { file, sheets, parts: new Map(entriesOf(bytes).map(({ name, text }) => [name, text])) };
}

/** Three open invoices in two currencies; the first is of a client whose name is a formula. */
async function aMirror(): Promise<Mirror> {
  const mirror = await openHasty({ declaration: fintoro });
  mirror.db.exec("INSERT INTO currencies (id, symbol, _synced_at) VALUES (1, 'EUR', ''), (2, 'USD', '')");
  const insert = mirror.db.prepare(
    `INSERT INTO invoices (id, number, issue_date, due_date, total, total_with_vat, to_be_paid, currency_id,
      currency_rate, has_vat, client_name, variable_symbol, client_subject_id, _synced_at)
    VALUES (?, ?, ?, '2026-10-20', ?, ?, ?, ?, ?, 1, ?, ?, '00318299', '')`,
  );
  insert.run(1, "0001", "2026-10-01", 10.1, 12.2, 12.2, 1, 1, "=1+1", 123456789012345678n);
  insert.run(2, "1-30", "2026-10-31", 0.2, 0.3, 0.3, 1, 1, 'Ján <&> "Ďuro"', 7);
  insert.run(3, "2026-10", "2026-09-30", 100, 120.123456, 54.21, 2, 1.0845, "c", null);
  return mirror;
}

function rowsOf({ rows }: Sheet): Record<string, unknown>[] {
  const [head = [], ...rest] = rows;
  return rest.map((row) => Object.fromEntries(head.map((name, at) => [String(name), row[at] ?? null])));
}

const day = (text: string) => new Date(`${text}T00:00:00Z`);

describe("a second reader finds", () => {
  test("dates, numbers and yes or no as such; ids, numbers of documents and formulas as text", async () => {
    const { sheets, parts } = await workbookOf(await aMirror(), { tables: ["invoices"] });
    const [first, second, third] = rowsOf(sheets[0] as Sheet);
    expect(first).toMatchObject({
      id: "1",
      number: "0001",
      client_subject_id: "00318299",
      client_name: "=1+1",
      issue_date: day("2026-10-01"),
      total: 10.1,
      has_vat: true,
      variable_symbol: "123456789012345678",
      status: null,
    });
    expect(second).toMatchObject({ number: "1-30", client_name: 'Ján <&> "Ďuro"', variable_symbol: "7" });
    expect(third).toMatchObject({ number: "2026-10", currency_rate: 1.0845, total_with_vat: 120.123456 });
    const xml = [...parts.values()].join("");
    expect(xml).not.toMatch(/<f[ >]/);
    expect(xml).not.toContain("<v>=");
  });

  test("a month as its first day, amounts with two decimals, a bold heading that stays, a filter, widths", async () => {
    const { sheets, parts } = await workbookOf(await aMirror(), { tables: ["v_revenue_by_month"] });
    const [sheet] = sheets as [Sheet];
    expect(rowsOf(sheet)[0]).toMatchObject({ month: day("2026-10-01"), currency: "EUR", revenue: 10.3 });
    const xml = parts.get("xl/worksheets/sheet1.xml") ?? "";
    const styles = parts.get("xl/styles.xml") ?? "";
    const found = [...styles.matchAll(/numFmtId="(\d+)" formatCode="([^"]*)"/g)];
    const formats = new Map(found.map(([, id, code]) => [id, code]));
    const cells = [...(styles.split("<cellXfs")[1] ?? "").matchAll(/<xf numFmtId="(\d+)" fontId="(\d)"/g)];
    const styleOf = (cell: string) => {
      const [, format, font] = cells[Number(new RegExp(`r="${cell}" s="(\\d+)"`).exec(xml)?.[1])] ?? [];
      return [formats.get(format), font === "1" ? "bold" : "plain"];
    };
    const letterOf = (name: string) => columnName(sheet.rows[0]?.indexOf(name) ?? -1);
    const styled = ["month", "revenue"].flatMap((name) => styleOf(`${letterOf(name)}2`));
    expect(styled).toEqual(["mm/yyyy", "plain", "#,##0.00####", "plain"]);
    expect(styleOf("A1")[1]).toBe("bold");
    expect(xml).toContain('<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>');
    const columns = sheet.rows[0]?.length ?? 0;
    expect(xml).toContain(`<autoFilter ref="A1:${columnName(columns - 1)}3"/>`);
    expect(xml.match(/<col min="\d+" max="\d+" width="\d+" customWidth="1"\/>/g)).toHaveLength(columns);
  });

  test("a sheet for each table, and one in the file of its name when it is alone", async () => {
    const mirror = await aMirror();
    const { file, sheets } = await workbookOf(mirror, { tables: ["clients", "invoices", "v_stock"] });
    expect(path.basename(file)).toBe("acme.xlsx");
    const found = Object.fromEntries(sheets.map(({ name, rows }) => [name, rows.length]));
    expect(found).toEqual({ clients: 1, invoices: 4, v_stock: 1 });
    expect(path.basename((await workbookOf(mirror, { tables: ["invoices"] })).file)).toBe("invoices.xlsx");
  });

  test("sums below the rows, never over two currencies", async () => {
    const { sheets } = await workbookOf(await aMirror(), { tables: ["v_open_invoices"] });
    const rows = rowsOf(sheets[0] as Sheet);
    const sums = rows.slice(4).map((row) => [row["invoice_id"], row["to_be_paid"], row["to_be_paid_eur"]]);
    expect(rows[3]).toMatchObject({ number: null, to_be_paid: null });
    expect(sums).toEqual([
      ["Total EUR", 12.5, null],
      ["Total USD", 54.21, null],
      ["Total", null, 62.49],
    ]);
  });

  test("no sum of rows without a currency, as of a client without documents", async () => {
    const mirror = await aMirror();
    put(mirror, "clients", { id: 77, name: "Without documents" });
    const { sheets } = await workbookOf(mirror, { tables: ["v_client_summary"] });
    const labels = rowsOf(sheets[0] as Sheet).map((row) => String(row["client_id"]));
    expect(labels.filter((label) => label.startsWith("Total"))).toEqual(["Total EUR", "Total USD", "Total"]);
  });
});

const everyTable = { format: "xlsx" } as const;
const bytesOf = (folder: string) => readFileSync(path.join(folder, "acme/acme.xlsx"));

test("the same rows give the same bytes, and the manifest names each table with the one file", async () => {
  const mirror = await aMirror();
  const { out, manifest } = await exportOf(mirror, everyTable);
  const again = await exportOf(mirror, everyTable);
  expect(bytesOf(again.out).equals(bytesOf(out))).toBe(true);
  expect(new Set(manifest.files.map(({ file }) => file))).toEqual(new Set(["acme.xlsx"]));
  const invoices = manifest.files.find(({ table }) => table === "invoices");
  expect(invoices).toMatchObject({ rows: 3, bytes: bytesOf(out).length });
  expect(await exportOf(mirror, { ...everyTable, out, ifChanged: true })).toMatchObject({ unchanged: true });
});

describe("what Excel cannot hold", () => {
  // Fault: data | a text beyond Excel's limit, control characters and texts that look like their escapes | cells of a workbook | the text as it came, or cut with an ellipsis
  test("texts come back as they were, cut at 32,767 characters", async () => {
    const mirror = await openHasty();
    const long = "ž".repeat(40_000);
    const names = [long, "a\u0000b\u001b[2J", "_x0041_ _x005F_", "  spaces\tand\nlines ", "\ufffe]]>", "😀"];
    for (const [at, name] of names.entries())
      put(mirror, "people", { id: at + 1, name, email: null, score: 1 });
    const { sheets } = await workbookOf(mirror, { tables: ["people"] });
    const read = rowsOf(sheets[0] as Sheet).map(({ name }) => name);
    expect(read.slice(1)).toEqual(names.slice(1));
    expect(read[0]).toBe(`${long.slice(0, 32_766)}…`);
  });

  test("rows beyond the last one of a sheet are in further sheets, each with the heading; sums in the last", async () => {
    const request = { tables: ["v_open_invoices", "invoices"], rowsPerSheet: 2 };
    const { sheets } = await workbookOf(await aMirror(), request);
    expect(sheets.map(({ name, rows }) => [name, rows[0]?.[0], rows.length])).toEqual([
      ["invoices", "id", 3],
      ["invoices (2)", "id", 2],
      ["v_open_invoices", "invoice_id", 3],
      ["v_open_invoices (2)", "invoice_id", 6],
    ]);
  });

  test("names of sheets", () => {
    const long = "warehouse_outbound_receipt_items";
    expect(sheetName(long, 1, [])).toBe(long.slice(0, 31));
    expect(sheetName(long, 1, [long.slice(0, 31).toUpperCase()])).toBe(`${long.slice(0, 27)} (2)`);
    expect(sheetName("'a/b:c*[d]?\\e'", 1, [])).toBe("a b c d e");
    expect([sheetName("History", 1, []), sheetName("", 1, [])]).toEqual(["History_", "_"]);
    expect(sheetName("a", 3, ["a", "a (2)"])).toBe("a (3)");
  });

  test("days before March 1900, and texts that are no day, stay text", () => {
    expect(["1900-02-28", "2026-02-30", "2026-13-01", "now", ""].map(excelDate)).toEqual(Array(5).fill(null));
    expect(excelDate("1900-03-01")).toBe(61);
    expect(excelDate("2026-10-31")).toBe(46_326);
    expect(excelDate("2026-10-31T18:00:00+01:00")).toBe(46_326.75);
    expect([0, 25, 26, 701, 702].map(columnName)).toEqual(["A", "Z", "AA", "ZZ", "AAA"]);
  });
});

test("any text of a cell is one text of the XML, without a character that XML forbids", () => {
  const write = createRowXml([{ name: "a", kind: "text" }]);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (raw) => {
      const text = raw.toWellFormed();
      const xml = Buffer.from(write(Buffer.from(text), 1)).toString();
      const [, inner = ""] =
        /^<row r="2"><c r="A2" s="\d" t="inlineStr"><is><t xml:space="preserve">([^]*)<\/t><\/is><\/c><\/row>$/.exec(
          xml,
        ) ?? [];
      expect(inner).not.toMatch(/[<>\ufffe\uffff]|(?![\t\n])\p{Cc}|&(?!amp;|lt;|gt;)/u);
      const plain = inner.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
      const back = plain.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
        String.fromCharCode(parseInt(code, 16)),
      );
      expect(back).toBe(text.replaceAll(/\r\n?/g, "\n"));
    }),
  );
});
