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
import { filterRange, sheetFoot, sheetHead } from "./xlsx/sheet-xml.ts";
import { sheetKind, stylesXml, type SheetColumn } from "./xlsx/styles.ts";
import { firstParts, lastParts, sheetName, sheetPath, type SheetEntry } from "./xlsx/workbook-parts.ts";

/** A sheet of Excel holds 1,048,576 rows; this leaves room for the heading and totals. */
const rowsPerSheet = 1_048_000;
const rangeRows = 500;
/** Rows whose texts decide how wide a column is. */
const measuredRows = 1_000;

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
  for (const [name, xml] of firstParts) yield* zip.entry(name, [part(xml)]);
  yield* zip.entry("xl/styles.xml", [part(stylesXml(context.request.language))]);
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

async function openSheets({ pool, request, parts: { manifest } }: ExportContext, plan: TableExport) {
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
  const label = translationTo(manifest, request.language)?.total ?? "Total";
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
 * The sums of the columns that have one, in whole cents: for each value of the column that keeps them apart, then over
 * all rows. A column with an unknown value has no sum.
 */
async function totalsOf(pool: ThreadPool, { columns }: SnapshotTable, label: string) {
  const summed = columns.flatMap(({ name, total }, at) => (total ? [{ name, at, per: total.per }] : []));
  const per = summed.find((column) => column.per !== null)?.per ?? null;
  const sums = (wanted: typeof summed, key: string, group: string) => {
    const cells = wanted.map(
      ({ name }) =>
        `CASE WHEN count(*) = count(${quoted(name)}) THEN sum(round(${quoted(name)} * 100)) / 100.0 END`,
    );
    return pool.query(`SELECT ${[key, ...cells].join(", ")} FROM ${rowsTable} ${group}`);
  };
  const rowOf = (wanted: typeof summed, [key, ...values]: readonly unknown[]) => ({
    label: typeof key === "string" ? `${label} ${key}` : label,
    sums: new Map(
      wanted.flatMap(({ at }, index) => {
        const value = values[index];
        return typeof value === "number" ? [[at, decimalText(value)] as const] : [];
      }),
    ),
  });
  const apart = summed.filter((column) => column.per !== null);
  const over = summed.filter((column) => column.per === null);
  const key = quoted(per ?? "");
  const rows = per === null ? [] : await sums(apart, key, `GROUP BY ${key} ORDER BY ${key}`);
  const all = over.length === 0 ? [] : await sums(over, "NULL", "");
  return [...rows.map((row) => rowOf(apart, row)), ...all.map((row) => rowOf(over, row))];
}
