import { throwIfAborted } from "../base/cancellation.ts";
import type { ReportType } from "../connector/report-view.ts";
import type { Db } from "../store/database.ts";
import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import { freeBytes } from "./columns/cells.ts";
import { rangesOf, type KeyRange } from "./columns/row-source.ts";
import { csvHead, type Dialect } from "./csv/csv-writer.ts";
import { FileSink, type WrittenFile } from "./files/file-sink.ts";
import type { RowGroup } from "./parquet/column-chunk.ts";
import { moveRowGroup, parquetFooter, parquetMagic } from "./parquet/footer.ts";
import { maxRowGroupRows, TypeOverflow, widerType } from "./parquet/parquet-types.ts";
import { partsSql, type TablePlan } from "./plan/export-plan.ts";
import type { Format } from "./plan/formats.ts";
import type { EncodedRows, Encoding, Job, NestedTable } from "./workers/protocol.ts";
import type { WorkerPool } from "./workers/worker-pool.ts";

export const interrupted = "the export was interrupted; the earlier files are unchanged";

/** What the files of one table are written with. */
export interface WriteParts {
  readonly format: Format;
  readonly pool: WorkerPool;
  /** A connection of this thread to the state that the pool reads. */
  readonly db: Db;
  readonly dialect: Dialect;
  /** Child tables that become nested columns of their parents. */
  readonly nested: readonly SnapshotTable[];
  /** Key-value metadata of a Parquet file. */
  readonly facts: Readonly<Record<string, string>>;
  readonly createdBy: string;
  /** The path that a part's file is written to; null: the table is not partitioned. */
  readonly placeOf: (part: string | null) => string;
  readonly onRows: (rows: number) => void;
  readonly signal: AbortSignal | undefined;
}

/** One finished file. */
export interface WrittenPart extends WrittenFile {
  readonly part: string | null;
  readonly rows: number;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** Types that replace the declared ones, by column; `list.column` within a nested column. */
type WidenedTypes = ReadonlyMap<string, ReportType>;

/** Writes all files of one table. On a type overflow the column gets a wider type and all is written again. */
export async function writeTable(plan: TablePlan, parts: WriteParts): Promise<WrittenPart[]> {
  const types = new Map<string, ReportType>();
  for (;;) {
    try {
      return await writeOnce(plan, encodingOf(plan, parts, types), parts);
    } catch (error) {
      const wider = error instanceof TypeOverflow ? widerType(error.type) : null;
      if (!(error instanceof TypeOverflow) || wider === null) throw error;
      types.set(error.column, wider);
    }
  }
}

let lastJob = 0;

async function writeOnce(plan: TablePlan, encoding: Encoding, parts: WriteParts): Promise<WrittenPart[]> {
  const job: Job = { id: ++lastJob, setup: plan.setup, source: plan.source, encoding };
  const columns = writtenColumns(plan, encoding);
  await parts.pool.open(job);
  try {
    const written: WrittenPart[] = [];
    for (const { part, ranges } of await rangesByPart(plan, job, parts)) {
      const file = await writeFile(job, ranges, parts.placeOf(part), parts);
      written.push({ ...file, part, columns });
    }
    return written;
  } finally {
    await parts.pool.close(job);
  }
}

interface PartRanges {
  readonly part: string | null;
  readonly ranges: Iterable<KeyRange>;
}

/** Rows that were laid out are divided by their numbers, a table in its place by its keys. */
async function rangesByPart(
  plan: TablePlan,
  { encoding, source }: Job,
  { pool, db }: WriteParts,
): Promise<PartRanges[]> {
  const rowsEach = encoding.kind === "parquet" ? maxRowGroupRows : maxRowGroupRows / 2;
  if (plan.setup.length === 0) return [{ part: null, ranges: rangesOf(db, source, rowsEach) }];
  const found = (await pool.query(partsSql)) as [string, number, number][];
  if (plan.isPartitioned && found.length > 0)
    return found.map(([part, first, last]) => ({ part, ranges: numberedRanges(first, last, rowsEach) }));
  return [{ part: null, ranges: numberedRanges(1, found[0]?.[2] ?? 0, rowsEach) }];
}

function* numberedRanges(first: number, last: number, rowsEach: number): Generator<KeyRange> {
  for (let after = first - 1; after < last; after += rowsEach)
    yield { after: BigInt(after), upTo: BigInt(Math.min(last, after + rowsEach)) };
}

async function writeFile(
  job: Job,
  ranges: Iterable<KeyRange>,
  place: string,
  parts: WriteParts,
): Promise<WrittenFile & { readonly rows: number }> {
  const { encoding } = job;
  const sink = await FileSink.open(place);
  const rowGroups: RowGroup[] = [];
  let rows = 0;
  try {
    if (encoding.kind === "parquet") await sink.write(parquetMagic);
    if (encoding.kind === "csv") {
      const names = encoding.columns.map(({ name }) => name);
      await sink.write(csvHead(names, encoding.dialect));
    }
    for await (const encoded of encodeInOrder(job, ranges, parts)) {
      rowGroups.push(...(await writeRows(encoded, sink)));
      rows += encoded.rows;
      parts.onRows(encoded.rows);
    }
    if (encoding.kind === "parquet") {
      const { facts, createdBy } = parts;
      await sink.write(parquetFooter({ ...encoding, rowGroups, facts, createdBy }));
    }
    return { ...(await sink.finish()), rows };
  } catch (error) {
    await sink.drop();
    throw error;
  }
}

/** Returns the row groups with their offsets in the file. */
async function writeRows({ parts }: EncodedRows, sink: FileSink): Promise<RowGroup[]> {
  const rowGroups: RowGroup[] = [];
  for (const { bytes, rowGroup } of parts) {
    if (rowGroup) {
      moveRowGroup(rowGroup, sink.bytes);
      rowGroups.push(rowGroup);
    }
    await sink.write(bytes);
    freeBytes(bytes);
  }
  return rowGroups;
}

/** Ranges that each worker encodes ahead of the one that is written. */
const aheadEach = 1;

/** Encodes ranges on all workers of a job; yields them in order. Memory holds `1 + aheadEach` for each worker. */
async function* encodeInOrder(
  job: Job,
  ranges: Iterable<KeyRange>,
  { pool, signal }: WriteParts,
): AsyncGenerator<EncodedRows> {
  const ahead = pool.workersFor(job).length * (1 + aheadEach) - 1;
  const pending: Promise<EncodedRows>[] = [];
  try {
    for (const range of ranges) {
      throwIfAborted(signal, interrupted);
      const encoded = pool.encode(job, range);
      encoded.catch(() => undefined);
      pending.push(encoded);
      if (pending.length > ahead) yield await (pending.shift() as Promise<EncodedRows>);
    }
    while (pending.length > 0) yield await (pending.shift() as Promise<EncodedRows>);
  } finally {
    await Promise.allSettled(pending);
  }
}

function encodingOf(
  { columns, json, table }: TablePlan,
  { format, dialect, nested }: WriteParts,
  types: WidenedTypes,
): Encoding {
  if (format === "csv") return { kind: "csv", columns, dialect };
  if (json === "record") return { kind: "records" };
  if (format === "jsonl") {
    const members =
      json === null ? columns : [...columns.slice(0, 2), { name: "json", type: "TEXT" as const }];
    return { kind: "objects", columns: members, endsInRecord: json !== null };
  }
  const typed = columns.map(({ name, type, nullable }) => ({
    name,
    type: types.get(name) ?? type,
    nullable,
  }));
  const children = nested.filter(({ parent }) => parent === table.name);
  return { kind: "parquet", columns: typed, nested: children.map((child) => nestedTable(child, types)) };
}

function nestedTable({ name, primaryKey, columns }: SnapshotTable, types: WidenedTypes): NestedTable {
  const [parentKey = ""] = primaryKey;
  const inner = columns.filter((column) => !primaryKey.includes(column.name));
  const typeOf = (column: string) => types.get(`${name}.${column}`);
  return {
    name,
    parentKey,
    columns: inner.map((column) => ({
      name: column.name,
      type: typeOf(column.name) ?? column.type,
      nullable: true,
    })),
  };
}

/** The columns that the export's manifest names. */
function writtenColumns({ columns, json }: TablePlan, encoding: Encoding): WrittenPart["columns"] {
  if (encoding.kind !== "parquet") {
    const shown = json === "record" ? [] : json === null ? columns : columns.slice(0, 2);
    return shown.map(({ name, type }) => ({ name, type }));
  }
  const lists = encoding.nested.map(({ name, columns: inner }) => ({
    name,
    type: `LIST(STRUCT(${inner.map((column) => `${column.name} ${column.type}`).join(", ")}))`,
  }));
  return [...encoding.columns.map(({ name, type }) => ({ name, type })), ...lists];
}
