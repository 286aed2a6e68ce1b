import { assert } from "../base/errors.ts";
import type { ReportType } from "../connector/report-view.ts";
import type { Snapshot } from "../state/mirror-snapshot.ts";
import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import { redactionsOf } from "../store/snapshot/redaction.ts";
import { freeBytes } from "./columns/cells.ts";
import { rangesOf, type KeyRange } from "./columns/row-source.ts";
import { csvHead } from "./csv/csv-writer.ts";
import { filePath, fromManifest, type ManifestFile, type TableFacts } from "./files/export-manifest.ts";
import { writeNewFile } from "../base/files/hashed-file.ts";
import type { Staging } from "./files/staging.ts";
import {
  maxRowGroupRows,
  parquetFooter,
  parquetMagic,
  TypeOverflow,
  widerType,
  type ParquetFile,
  type RowGroup,
} from "./parquet/parquet-types.ts";
import { numberedRanges, type LaidOutPart, type TableExport } from "./plan/export-plan.ts";
import type { ExportParts, ExportRequest } from "./plan/export-request.ts";
import type { EncodedRows, Encoding } from "./threads/encoder.ts";
import type { ThreadPool } from "./threads/thread-pool.ts";

/** What all tables of one export share. */
export interface ExportContext {
  readonly parts: ExportParts;
  readonly request: ExportRequest;
  readonly pool: ThreadPool;
  readonly staging: Staging;
  readonly form: string;
}

/**
 * Writes all files of one table into the staging folder. After a type overflow the column gets a wider type and
 * everything is written again. `onRows` gets the rows written so far.
 */
export async function writeTable(
  context: ExportContext,
  plan: TableExport,
  onRows: (rows: number) => void,
): Promise<ManifestFile[]> {
  // Types that replace the declared ones, by column; `list.column` within a nested column.
  const types = new Map<string, ReportType>();
  for (;;) {
    try {
      return await writeFiles(context, plan, encodingOf(context, plan, types), onRows);
    } catch (error) {
      const wider = error instanceof TypeOverflow ? widerType(error.type) : null;
      if (!(error instanceof TypeOverflow) || wider === null) throw error;
      types.set(error.column, wider);
    }
  }
}

async function writeFiles(
  context: ExportContext,
  plan: TableExport,
  encoding: Encoding,
  onRows: (rows: number) => void,
): Promise<ManifestFile[]> {
  const { parts, request, pool, staging } = context;
  const { setup, source, table } = plan;
  const facts = tableFacts(context, plan);
  const columns = encoding.kind === "parquet" ? writtenColumns(encoding) : facts.columns;
  const laidOut = await pool.openJob({ setup, source, encoding });
  const files: ManifestFile[] = [];
  let tableRows = 0;
  for (const { part, ranges } of rangesByPart(plan, encoding, laidOut, pool)) {
    const file = filePath(request, table.name, part);
    let rows = 0;
    const content = contentOf(encoding, pool.encode(ranges, parts.signal), (more) => {
      rows += more;
      tableRows += more;
      onRows(tableRows);
    });
    const { size_bytes: bytes, sha256 } = await writeNewFile(staging.placeOf(file), content);
    files.push({ ...facts, columns, file: fromManifest(request.company, file), bytes, sha256, rows });
  }
  return files;
}

/** What each file of a table has in common. */
export function tableFacts(
  { parts, request: { format, language }, pool: { snapshot }, form }: ExportContext,
  { table, columns, period }: TableExport,
): TableFacts & Pick<ManifestFile, "seq"> {
  return {
    table: table.name,
    format,
    seq: snapshot.seq,
    language,
    period,
    columns: columns.map(({ name, type }) => ({ name, type })),
    form,
    ...(showsDay(table, snapshot.tables) && { report_date: parts.reportDate }),
    ...(snapshot.redaction && { redacted: redactionsOf(snapshot.tables) }),
  };
}

/** Does a view count against the day of the report, itself or by a view that it reads? */
function showsDay({ view }: SnapshotTable, all: readonly SnapshotTable[]): boolean {
  const words = new Set(view?.sql.match(/\w+/g));
  if (words.has("report_date")) return true;
  return all.some((one) => one.view !== view && words.has(one.name) && showsDay(one, all));
}

/** Rows that were laid out are divided by their numbers, a table in its place by its keys. */
function rangesByPart(
  plan: TableExport,
  encoding: Encoding,
  laidOut: readonly LaidOutPart[],
  pool: ThreadPool,
): { part: string | null; ranges: Iterable<KeyRange> }[] {
  const rowsEach = encoding.kind === "parquet" ? maxRowGroupRows : maxRowGroupRows / 2;
  if (plan.setup.length === 0)
    return [{ part: null, ranges: rangesOf(pool.snapshot.db, plan.source, rowsEach) }];
  // A table without rows has a file, too.
  const parts: readonly LaidOutPart[] = laidOut.length > 0 ? laidOut : [[plan.undated, 1, 0]];
  return parts.map(([part, first, last]) => ({ part, ranges: numberedRanges(first, last, rowsEach) }));
}

/** The bytes of a file; each part is freed when the next one is asked for. */
async function* contentOf(
  encoding: Encoding,
  encodedRows: AsyncIterable<EncodedRows>,
  onRows: (rows: number) => void,
): AsyncGenerator<Uint8Array> {
  const rowGroups: RowGroup[] = [];
  if (encoding.kind === "parquet") yield parquetMagic;
  if (encoding.kind === "csv") yield csvHead(encoding.columns, encoding.dialect);
  for await (const { parts, rows } of encodedRows) {
    onRows(rows);
    for (const { bytes, rowGroup } of parts) {
      if (rowGroup) rowGroups.push(rowGroup);
      yield bytes;
      freeBytes(bytes);
    }
  }
  if (encoding.kind === "parquet") yield parquetFooter({ ...encoding, rowGroups });
}

function encodingOf(
  { parts, request, pool }: ExportContext,
  { columns, isJson, table }: TableExport,
  types: ReadonlyMap<string, ReportType>,
): Encoding {
  const { format, dialect, nested } = request;
  if (format === "csv") return { kind: "csv", columns, dialect };
  if (format === "jsonl") return isJson ? { kind: "records" } : { kind: "objects", columns };
  assert(format !== "xlsx", "a workbook is written as a whole");
  const children = pool.snapshot.tables.filter(
    ({ kind, parent }) => nested && kind === "child" && parent === table.name,
  );
  return {
    kind: format,
    columns: columns.map(({ name, type, nullable }) => ({ name, type: types.get(name) ?? type, nullable })),
    nested: children.map((child) => nestedColumn(child, types)),
    facts: factsOf(pool.snapshot, request, table),
    createdBy: `fintoro-mirror ${parts.version}`,
  };
}

function nestedColumn({ name, primaryKey, columns }: SnapshotTable, types: ReadonlyMap<string, ReportType>) {
  const [parentKey = ""] = primaryKey;
  const inner = columns.filter((column) => !primaryKey.includes(column.name));
  const widened = inner.map((column) => ({
    name: column.name,
    type: types.get(`${name}.${column.name}`) ?? column.type,
    nullable: true,
  }));
  return { name, parentKey, columns: widened };
}

function writtenColumns({ columns, nested }: ParquetFile): ManifestFile["columns"] {
  const lists = nested.map(({ name, columns: inner }) => ({
    name,
    type: `LIST(STRUCT(${inner.map((column) => `${column.name} ${column.type}`).join(", ")}))`,
  }));
  return [...columns.map(({ name, type }) => ({ name, type })), ...lists];
}

function factsOf(
  { log, seq, run }: Snapshot,
  { company, since }: ExportRequest,
  { name, title, doc, columns }: SnapshotTable,
): Record<string, string> {
  const comments = columns.flatMap((column) => (column.doc === null ? [] : [[column.name, column.doc]]));
  return {
    company,
    table: name,
    title,
    ...(doc === null ? {} : { description: doc }),
    log,
    seq: String(seq),
    ...(since === null ? {} : { since: String(since.seq) }),
    ...(run === null ? {} : { run: String(run.id), run_finished_at: run.finishedAt }),
    column_comments: JSON.stringify(Object.fromEntries(comments)),
  };
}
