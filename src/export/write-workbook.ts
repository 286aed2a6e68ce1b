import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import { decimalText } from "../json/literal.ts";
import { quoted } from "../store/sql-text.ts";
import { freeBytes } from "./columns/cells.ts";
import { fromManifest, type ManifestFile, workbookPath } from "./files/export-manifest.ts";
import { writeNewFile } from "../base/files/hashed-file.ts";
import { ZipStream } from "./files/zip-stream.ts";
import { numberedRanges, rowsTable, translationTo, type TableExport } from "./plan/export-plan.ts";
import type { ThreadPool } from "./threads/thread-pool.ts";
import { tableFacts, type ExportContext } from "./write-table.ts";
import { filterRange, sheetFoot, sheetHead, spreadsheetNamespace, xmlText } from "./xlsx/sheet-xml.ts";
import type { TotalRow } from "./xlsx/sheet-xml.ts";
import { sheetKind, stylesXml, type SheetColumn } from "./xlsx/styles.ts";

/** A sheet of Excel holds 1,048,576 rows; this leaves room for the heading and totals. */
const rowsPerSheet = 1_048_000;
const rangeRows = 500;
/** Rows whose texts decide how wide a column is. */
const measuredRows = 1_000;

type SheetEntry = Readonly<Record<"name" | "filter", string>>;

/** What was written of a table: its file is known when the workbook is complete. */
type WrittenTable = ReturnType<typeof tableFacts> & Pick<ManifestFile, "rows">;

/**
 * Writes one workbook with a sheet for each table; rows that a sheet cannot hold are in further ones. Memory holds a few
 * thousand rows. `onRows` gets the rows of a table written so far.
 *
 * @throws MirrorError `usage` when the workbook exceeds what a ZIP can hold
 */
export async function writeWorkbook(
  context: ExportContext,
  plans: readonly TableExport[],
  onRows: (plan: TableExport, rows: number) => void,
): Promise<ManifestFile[]> {
  const { request, staging } = context;
  const file = workbookPath(request);
  const facts: WrittenTable[] = [];
  const content = workbookContent(context, plans, facts, onRows);
  const { size_bytes: bytes, sha256 } = await writeNewFile(staging.placeOf(file), content);
  return facts.map((table) => ({ ...table, file: fromManifest(request.company, file), bytes, sha256 }));
}

async function* workbookContent(
  context: ExportContext,
  plans: readonly TableExport[],
  facts: WrittenTable[],
  onRows: (plan: TableExport, rows: number) => void,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipStream();
  const sheets: SheetEntry[] = [];
  const styles = ["xl/styles.xml", stylesXml(context.request.language)] as const;
  for (const [name, xml] of [...firstParts, styles]) yield* zip.entry(name, [part(xml)]);
  for (const plan of plans) {
    const sheet = await openSheets(context, plan);
    for (const [first, last] of sheet.parts) {
      const taken = sheets.map(({ name }) => name);
      const name = sheetName(plan.title, Math.ceil(first / sheet.rowsEach), taken);
      sheets.push({ name, filter: filterRange(sheet.columns, last - first + 1) });
      const rows = sheetRows(context, sheet, first, last, (done) => onRows(plan, done));
      yield* zip.entry(sheetPath(sheets.length), rows);
    }
    facts.push({ ...tableFacts(context, plan), rows: sheet.rows });
  }
  for (const [name, xml] of lastParts(sheets)) yield* zip.entry(name, [part(xml)]);
  yield* zip.end();
}

function part(xml: string): Uint8Array {
  return Buffer.from(`<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${xml}`);
}

async function openSheets({ pool, request, parts: { declaration } }: ExportContext, plan: TableExport) {
  const { setup, source, table } = plan;
  const rowsEach = request.rowsPerSheet ?? rowsPerSheet;
  const columns = plan.columns.map(({ name, type }, at): SheetColumn => {
    const column = table.columns[at];
    return { name, kind: column && column.type === type ? sheetKind(column) : "text" };
  });
  const [laidOut] = await pool.openJob({ setup, source, encoding: { kind: "sheet", columns, rowsEach } });
  const rows = laidOut?.[2] ?? 0;
  const parts = Array.from({ length: Math.max(1, Math.ceil(rows / rowsEach)) }, (_, at) => {
    return [at * rowsEach + 1, Math.min(rows, (at + 1) * rowsEach)] as const;
  });
  const longest = source.columns.map((sql) => `max(length(${sql}))`).join(", ");
  const [lengths = []] = await pool.query(
    `SELECT ${longest} FROM (SELECT * FROM ${rowsTable} LIMIT ${measuredRows})`,
  );
  const label = translationTo(declaration, request.language)?.total ?? "Total";
  const totals = rows === 0 ? [] : await totalsOf(pool, table, label);
  return {
    columns,
    rows,
    rowsEach,
    /** First and last row of each sheet; one sheet at least. */
    parts,
    /** By column the length of its longest text. */
    lengths: lengths.map(Number),
    totals,
  };
}

async function* sheetRows(
  { pool, parts }: ExportContext,
  { columns, lengths, totals, rows }: Awaited<ReturnType<typeof openSheets>>,
  first: number,
  last: number,
  onRows: (rows: number) => void,
): AsyncGenerator<Uint8Array> {
  yield part(sheetHead(columns, lengths));
  let done = first - 1;
  for await (const encoded of pool.encode(numberedRanges(first, last, rangeRows), parts.signal)) {
    for (const { bytes } of encoded.parts) {
      yield bytes;
      freeBytes(bytes);
    }
    onRows((done += encoded.rows));
  }
  const isLast = last === rows;
  yield Buffer.from(sheetFoot(columns, last - first + 1, isLast ? totals : []));
}

/**
 * The sums of the columns that have one, in whole cents: for each value of the column that keeps them apart, but for rows
 * without one, then over all rows. A column with an unknown value has no sum.
 */
async function totalsOf(pool: ThreadPool, { columns }: SnapshotTable, label: string): Promise<TotalRow[]> {
  const summed = columns.flatMap(({ name, total }, at) => (total ? [{ name, at, per: total.per }] : []));
  const byKey = Map.groupBy(summed, ({ per }) => (per === null ? "''" : quoted(per)));
  const rows: TotalRow[] = [];
  for (const [key, wanted] of byKey) {
    const cells = wanted.map(
      ({ name }) =>
        `CASE WHEN count(*) = count(${quoted(name)}) THEN sum(round(${quoted(name)} * 100)) / 100.0 END`,
    );
    const sql = `SELECT ${[key, ...cells].join(", ")} FROM ${rowsTable} WHERE ${key} IS NOT NULL GROUP BY ${key} ORDER BY ${key}`;
    for (const [of, ...values] of await pool.query(sql)) {
      const sums = wanted.flatMap(({ at }, index) => {
        const value = values[index];
        return typeof value === "number" ? [[at, decimalText(value)] as const] : [];
      });
      rows.push({ label: of === "" ? label : `${label} ${String(of)}`, sums: new Map(sums) });
    }
  }
  return rows;
}

function sheetPath(number: number): string {
  return `xl/worksheets/sheet${number}.xml`;
}

const attribute = (text: string) => xmlText(text).replaceAll('"', "&quot;");
const officeRelations = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packageRelations = "http://schemas.openxmlformats.org/package/2006/relationships";
const typeOf = (kind: string) => `application/vnd.openxmlformats-officedocument.spreadsheetml.${kind}+xml`;

/** The parts before the sheets. Any part but those named is a sheet, so that their number need not be known. */
const firstParts: readonly (readonly [name: string, xml: string])[] = [
  [
    "[Content_Types].xml",
    `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="${typeOf("worksheet")}"/><Override PartName="/xl/workbook.xml" ContentType="${typeOf("sheet.main")}"/><Override PartName="/xl/styles.xml" ContentType="${typeOf("styles")}"/></Types>`,
  ],
  [
    "_rels/.rels",
    `<Relationships xmlns="${packageRelations}"><Relationship Id="rId1" Type="${officeRelations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  ],
];

/** The parts after the sheets: the workbook, and where its sheets are. */
function lastParts(sheets: readonly SheetEntry[]): (readonly [name: string, xml: string])[] {
  const list = sheets.map(
    ({ name }, at) => `<sheet name="${attribute(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`,
  );
  const filters = sheets.map(
    ({ name, filter }, at) =>
      `<definedName name="_xlnm._FilterDatabase" localSheetId="${at}" hidden="1">${xmlText(`'${name.replaceAll("'", "''")}'!${filter}`)}</definedName>`,
  );
  const relation = (id: number, kind: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${officeRelations}/${kind}" Target="${target}"/>`;
  const targets = sheets.map((_, at) => relation(at + 1, "worksheet", `/${sheetPath(at + 1)}`));
  const styles = relation(sheets.length + 1, "styles", "/xl/styles.xml");
  return [
    [
      "xl/workbook.xml",
      `<workbook xmlns="${spreadsheetNamespace}" xmlns:r="${officeRelations}"><bookViews><workbookView/></bookViews><sheets>${list.join("")}</sheets><definedNames>${filters.join("")}</definedNames></workbook>`,
    ],
    [
      "xl/_rels/workbook.xml.rels",
      `<Relationships xmlns="${packageRelations}">${targets.join("")}${styles}</Relationships>`,
    ],
  ];
}

const maxNameLength = 31;

/**
 * A name that Excel accepts for a sheet, and that no sheet before it has in either case. `continues` is 1 for the first
 * sheet of a table, and counts those that hold its further rows.
 */
export function sheetName(title: string, continues: number, taken: Iterable<string>): string {
  const lower = new Set([...taken].map((name) => name.toLowerCase()));
  const plain = title.replaceAll(/[\p{Cc}[\]:*?/\\\ufffe\uffff]+/gu, " ").replaceAll(/^['\s]+|['\s]+$/g, "");
  const base = plain === "" || /^history$/i.test(plain) ? `${plain}_` : plain;
  for (let number = continues; ; number++) {
    const end = number === 1 ? "" : ` (${number})`;
    const name = base.slice(0, maxNameLength - end.length).toWellFormed() + end;
    if (!lower.has(name.toLowerCase())) return name;
  }
}
