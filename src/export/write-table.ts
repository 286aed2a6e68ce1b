import type { ReportType } from "../connector/report-view.ts";
import type { WorkerPool } from "./workers/worker-pool.ts";
import { csvHead, type Dialect } from "./csv/csv-writer.ts";
import { FileSink, type WrittenFile } from "./files/file-sink.ts";
import type { Encoding, Job, Made, NestedSource } from "./workers/job.ts";
import { throwIfAborted } from "./interruption.ts";
import { moveChunk } from "./parquet/row-group-writer.ts";
import type { RowGroup } from "./parquet/column-chunk.ts";
import { parquetFooter, parquetHead } from "./parquet/footer.ts";
import { widerType, type ParquetColumn } from "./parquet/parquet-types.ts";
import { mostRows } from "./parquet/rows.ts";
import { release } from "./release.ts";
import { rangesOf, type KeyRange } from "./columns/row-source.ts";
import type { Db } from "../store/database.ts";
import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import { partsSql, type TablePlan } from "./plan/export-plan.ts";

export interface WriteParts {
  readonly crew: WorkerPool;
  /** Of the leading thread, which sees the same rows. */
  readonly db: Db;
  readonly dialect: Dialect;
  /** Child tables that become columns. */
  readonly nested: readonly SnapshotTable[];
  readonly facts: Readonly<Record<string, string>>;
  readonly createdBy: string;
  /** Where the file of a part is written; null: the table has no parts. */
  readonly placeOf: (part: string | null) => string;
  readonly onRows: (rows: number) => void;
  readonly signal: AbortSignal;
}

export interface WrittenPart extends WrittenFile {
  readonly part: string | null;
  readonly rows: number;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** A value did not fit; carries the column's name, with its list's before it where it is nested. */
class TooNarrow extends Error {
  readonly column: string;

  constructor(column: string) {
    super(`a value does not fit the type of ${column}`);
    this.column = column;
  }
}

/** All files of one table. A type that proves too narrow is widened, and the table written once more. */
export async function writeTable(plan: TablePlan, format: "csv" | "jsonl" | "parquet", parts: WriteParts) {
  const types = new Map<string, ReportType>();
  for (;;) {
    try {
      return await writeOnce(plan, encodingOf(plan, format, parts, types), parts);
    } catch (error) {
      if (!(error instanceof TooNarrow)) throw error;
      types.set(error.column, widened(error, typeNow(plan, parts, types, error.column)));
    }
  }
}

function widened(error: TooNarrow, type: ReportType): ReportType {
  const wider = widerType(type);
  if (wider === null) throw new Error(`broken promise: any value fits ${type} (${error.column})`);
  return wider;
}

function typeNow(
  { columns }: TablePlan,
  { nested }: WriteParts,
  types: ReadonlyMap<string, ReportType>,
  name: string,
): ReportType {
  const inner = nested.flatMap((child) =>
    child.columns.map((column) => ({ name: `${child.name}.${column.name}`, type: column.type })),
  );
  const declared = [...columns, ...inner].find((column) => column.name === name)?.type;
  return types.get(name) ?? declared ?? "TEXT";
}

let jobs = 0;

async function writeOnce(plan: TablePlan, encoding: Encoding, parts: WriteParts): Promise<WrittenPart[]> {
  const { crew } = parts;
  const job: Job = { id: ++jobs, setup: plan.setup, source: plan.source, encoding };
  const alone = plan.setup.length > 0;
  await crew.open(job, alone);
  try {
    const written: WrittenPart[] = [];
    for (const { part, ranges } of await partsOf(plan, job, parts)) {
      const file = await writeFile(job, ranges, alone, parts, part);
      written.push({ ...file, part, columns: columnsOf(plan, encoding) });
    }
    return written;
  } finally {
    await crew.close(job, alone);
  }
}

interface Part {
  readonly part: string | null;
  readonly ranges: Iterable<KeyRange>;
}

/** What was laid out is divided by counting; a table that stands where it is, by walking along its keys. */
async function partsOf(
  plan: TablePlan,
  { encoding, source }: Job,
  { crew, db }: WriteParts,
): Promise<Part[]> {
  const rowsEach = encoding.kind === "parquet" ? mostRows : mostRows / 2;
  if (plan.setup.length === 0) return [{ part: null, ranges: rangesOf(db, source, rowsEach) }];
  const found = (await crew.ask(partsSql)) as [string, number, number][];
  if (plan.isPartitioned && found.length > 0)
    return found.map(([part, first, last]) => ({ part, ranges: counted(first, last, rowsEach) }));
  return [{ part: null, ranges: counted(1, found[0]?.[2] ?? 0, rowsEach) }];
}

function* counted(first: number, last: number, each: number): Generator<KeyRange> {
  for (let after = first - 1; after < last; after += each)
    yield { after: BigInt(after), upTo: BigInt(Math.min(last, after + each)) };
}

async function writeFile(
  job: Job,
  ranges: Iterable<KeyRange>,
  alone: boolean,
  parts: WriteParts,
  part: string | null,
): Promise<WrittenFile & { readonly rows: number }> {
  const { encoding } = job;
  const sink = await FileSink.open(parts.placeOf(part));
  const groups: RowGroup[] = [];
  let rows = 0;
  try {
    if (encoding.kind === "parquet") await sink.write(parquetHead);
    if (encoding.kind === "csv") {
      const names = encoding.columns.map(({ name }) => name);
      await sink.write(csvHead(names, encoding.dialect));
    }
    for await (const made of inOrder(job, ranges, alone, parts)) {
      await put(made, sink, groups);
      rows += made.rows;
      parts.onRows(made.rows);
    }
    if (encoding.kind === "parquet")
      await sink.write(
        parquetFooter({
          columns: encoding.columns,
          nested: encoding.nested,
          groups,
          facts: parts.facts,
          createdBy: parts.createdBy,
        }),
      );
    return { ...(await sink.finish()), rows };
  } catch (error) {
    await sink.drop();
    throw error;
  }
}

/** Row groups were made as if they stood alone: their pages move to where they stand now. */
async function put({ parts, groups }: Made, sink: FileSink, all: RowGroup[]): Promise<void> {
  for (const [i, bytes] of parts.entries()) {
    const group = groups[i];
    if (group) {
      for (const chunk of group.columns) moveChunk(chunk, sink.bytes);
      all.push(group);
    }
    await sink.write(bytes);
    release(bytes);
  }
}

/** So many pieces are made ahead of the one that is written, for each thread. */
const aheadEach = 1;

/** Made by whoever is free, given in order; never more of them in memory than threads and one each ahead. */
async function* inOrder(
  job: Job,
  ranges: Iterable<KeyRange>,
  alone: boolean,
  { crew, signal }: WriteParts,
): AsyncGenerator<Made> {
  const ahead = (alone ? 1 : crew.threads) * (1 + aheadEach) - 1;
  const making: ReturnType<WorkerPool["make"]>[] = [];
  try {
    for (const range of ranges) {
      throwIfAborted(signal);
      const made = crew.make(job, range, alone);
      made.catch(() => undefined);
      making.push(made);
      if (making.length > ahead) yield fitting(await making.shift());
    }
    while (making.length > 0) yield fitting(await making.shift());
  } finally {
    await Promise.allSettled(making);
  }
}

function fitting(made: Awaited<ReturnType<WorkerPool["make"]>> | undefined): Made {
  if (made === undefined) throw new Error("broken promise: there is one to wait for");
  if ("misfit" in made) throw new TooNarrow(made.misfit);
  return made;
}

function encodingOf(
  { columns, json, table }: TablePlan,
  format: "csv" | "jsonl" | "parquet",
  { dialect, nested }: WriteParts,
  types: ReadonlyMap<string, ReportType>,
): Encoding {
  const typed = columns.map(({ name, type }) => ({ name, type }));
  if (format === "csv") return { kind: "csv", columns: typed, dialect };
  if (json === "record") return { kind: "records" };
  if (format === "jsonl") {
    const members = json === null ? typed : [...typed.slice(0, 2), { name: "json", type: "TEXT" as const }];
    return { kind: "objects", columns: members, endsInRecord: json !== null };
  }
  const known = columns.map(({ name, type, nullable }) => ({
    name,
    type: types.get(name) ?? type,
    nullable,
  }));
  const lists = nested.filter(({ parent }) => parent === table.name);
  return { kind: "parquet", columns: known, nested: lists.map((child) => nestedOf(child, types)) };
}

function nestedOf(child: SnapshotTable, types: ReadonlyMap<string, ReportType>): NestedSource {
  const { name, primaryKey, columns } = child;
  const [parentKey = ""] = primaryKey;
  const inner: ParquetColumn[] = columns
    .filter((column) => !primaryKey.includes(column.name))
    .map((column) => ({
      name: column.name,
      type: types.get(`${name}.${column.name}`) ?? column.type,
      nullable: true,
    }));
  return { name, columns: inner, table: name, parentKey };
}

function columnsOf({ columns, json }: TablePlan, encoding: Encoding): WrittenPart["columns"] {
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
