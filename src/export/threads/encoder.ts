import { assert } from "../../base/errors.ts";
import { isOverlay } from "../../store/snapshot/overlay.ts";
import type { Db, Statement } from "../../store/database.ts";
import { installRedaction, type Redaction } from "../../store/snapshot/redaction.ts";
import { quoted } from "../../store/sql-text.ts";
import { asciiText, cellsSql, endOfCell, nullCell } from "../columns/cells.ts";
import type { CellColumn, CellsRow } from "../columns/cells.ts";
import { partsSql, type LaidOutPart, type TableExport } from "../plan/export-plan.ts";
import { createRowXml } from "../xlsx/sheet-xml.ts";
import type { SheetColumn } from "../xlsx/styles.ts";
import { CellReader, type KeyRange, type RowSource } from "../columns/row-source.ts";
import { CsvWriter, type Dialect } from "../csv/csv-writer.ts";
import { createRowLines, recordLines } from "../jsonl/jsonl-writer.ts";
import { cellParser } from "../parquet/typed-columns.ts";
import { TypeOverflow } from "../parquet/parquet-types.ts";
import type { NestedColumn, ParquetFile, RowGroup } from "../parquet/parquet-types.ts";
import { RowGroupWriter } from "../parquet/row-group-writer.ts";

export type Encoding =
  | { readonly kind: "csv"; readonly columns: readonly CellColumn[]; readonly dialect: Dialect }
  /** The one column is a record's JSON. */
  | { readonly kind: "records" }
  | { readonly kind: "sheet"; readonly columns: readonly SheetColumn[]; readonly rowsEach: number }
  | { readonly kind: "objects"; readonly columns: readonly CellColumn[] }
  /** With nested columns, the parents' id is the first column of the job's source. */
  | (ParquetFile & { readonly kind: "parquet" });

/** One table to encode. With a setup, the first thread does all of it. */
export interface EncodeJob extends Pick<TableExport, "setup" | "source"> {
  readonly encoding: Encoding;
}

/** Some rows as bytes of their file; with Parquet each part is a row group. */
export interface EncodedRows {
  readonly parts: readonly { readonly bytes: Uint8Array; readonly rowGroup: RowGroup | null }[];
  readonly rows: number;
}

/** Which state of the mirror a connection reads: its last change, and the version of its schema. */
export function stateOf(db: Db): string {
  const mirror = isOverlay(db, "main") ? "live" : "main";
  const seq = db.prepare(`SELECT coalesce(max(seq), 0) FROM ${mirror}._change_log`).pluck().get();
  return `${String(seq)} ${String(db.pragma(`${mirror}.schema_version`, { simple: true }))}`;
}

interface Encoder {
  /** Encodes ranges of a job's rows, in any order. */
  readonly encode: (range: KeyRange) => EncodedRows;
  /** Frees its memory, after the job. */
  readonly release?: () => void;
}

/** An encoder that reads through `db`, which has run the job's setup. */
function createEncoder(db: Db, { encoding, source }: EncodeJob): Encoder {
  const reader = new CellReader(db, source);
  switch (encoding.kind) {
    case "parquet":
      return parquetEncoder(db, reader, source, encoding);
    case "csv": {
      const writer = new CsvWriter(encoding.columns, encoding.dialect);
      return lineEncoder(reader, (cells) => writer.write(cells));
    }
    case "records":
      return lineEncoder(reader, recordLines);
    case "sheet": {
      const { columns, rowsEach } = encoding;
      const rows = createRowXml(columns);
      // Rows that a setup laid out are numbered from 1, and a sheet begins with its heading.
      return lineEncoder(reader, (cells, { after }) => rows(cells, (Number(after) % rowsEach) + 1));
    }
    case "objects":
      return lineEncoder(reader, createRowLines(encoding.columns));
    default:
      return encoding satisfies never;
  }
}

/** What the pool asks of a thread, done through the connection `db`. */
export function createCalls(db: Db) {
  let encoder: Encoder | null = null;
  const execute = (statements: readonly string[]) => {
    for (const statement of statements) db.exec(statement);
  };
  return {
    /** Begins a read transaction, after ending the last one. Returns its `stateOf`. */
    begin: () => {
      if (db.inTransaction) db.exec("ROLLBACK");
      db.exec("BEGIN");
      // A transaction sees the state of its first read.
      return stateOf(db);
    },
    /** Makes the functions that redact, where there are any, and what uses them. */
    prepare: (redaction: Redaction | null, statements: readonly string[]) => {
      if (redaction) installRedaction(db, redaction);
      execute(statements);
    },
    /** Opens a job in place of the last one. Returns the parts that the setup laid out; none without a setup. */
    open: (job: EncodeJob): readonly LaidOutPart[] => {
      encoder?.release?.();
      encoder = null;
      execute(job.setup);
      encoder = createEncoder(db, job);
      return job.setup.length > 0 ? (db.prepare(partsSql).raw(true).all() as LaidOutPart[]) : [];
    },
    query: (sql: string) => db.prepare(sql).raw(true).all() as (readonly unknown[])[],
    /** Encodes rows of the open job. @throws TypeOverflow */
    encode: (range: KeyRange): EncodedRows => {
      assert(encoder, "a job is opened before its rows are encoded");
      return encoder.encode(range);
    },
  };
}

export type EncoderCalls = ReturnType<typeof createCalls>;

function lineEncoder(reader: CellReader, write: (cells: Uint8Array, piece: KeyRange) => Uint8Array): Encoder {
  const encode = (range: KeyRange) => {
    const parts: EncodedRows["parts"][number][] = [];
    const rows = reader.read(range, (cells, piece) =>
      parts.push({ bytes: new Uint8Array(write(cells, piece)), rowGroup: null }),
    );
    return { parts, rows };
  };
  return { encode };
}

/** Every range ends with its row group, so that ranges are independent. */
function parquetEncoder(
  db: Db,
  reader: CellReader,
  source: RowSource,
  { columns, nested }: Extract<Encoding, { kind: "parquet" }>,
): Encoder {
  const writer = new RowGroupWriter(columns, nested);
  const children = nested.map((table) => ({ table, cells: childCells(db, source, table) }));
  /** The nested columns' values of the row whose cells begin at `from`. */
  const listsIn = (piece: KeyRange, cells: Uint8Array) => {
    const byParent = children.map((child) =>
      structsByParent(child.cells.get(piece.after, piece.upTo) as CellsRow, child.table),
    );
    return (from: number) => {
      const id = asciiText(cells, from, endOfCell(cells, from));
      return byParent.map((structs) => structs.get(id) ?? []);
    };
  };
  const encode = (range: KeyRange) => {
    const rows = reader.read(range, (cells, piece) =>
      writer.write(cells, nested.length === 0 ? undefined : listsIn(piece, cells)),
    );
    return { parts: writer.finish(), rows };
  };
  return { encode, release: () => writer.release() };
}

/** Prepares: the child rows of the parents of a range, by parent and position. */
function childCells(
  db: Db,
  { from, key, columns: [id] }: RowSource,
  { name, parentKey, columns }: NestedColumn,
): Statement {
  const names = [parentKey, ...columns.map((column) => column.name)].map(quoted);
  const parents = `SELECT ${id} FROM ${from} WHERE ${key} > ? AND ${key} <= ?`;
  const rows = `(SELECT ${names.join(", ")} FROM ${quoted(name)}
    WHERE ${quoted(parentKey)} IN (${parents}) ORDER BY ${quoted(parentKey)}, position)`;
  return db.prepare(cellsSql(names, rows)).raw();
}

type Struct = Record<string, unknown>;

/**
 * Groups child rows by the parent's id, which is the first column of `cells`; each row becomes a struct.
 *
 * @throws TypeOverflow with the column as `list.column`
 */
function structsByParent([, cells]: CellsRow, { name: list, columns }: NestedColumn): Map<string, Struct[]> {
  const found = new Map<string, Struct[]>();
  if (cells === null) return found;
  const parsers = columns.map(({ name, type }) => ({ name, type, parse: cellParser(type) }));
  for (let from = 0; from <= cells.length;) {
    let end = endOfCell(cells, from);
    const parent = asciiText(cells, from, end);
    const child: Struct = {};
    for (const { name, type, parse } of parsers) {
      from = end + 1;
      end = endOfCell(cells, from);
      const value = cells[from] === nullCell ? null : parse(cells, from, end);
      if (value === undefined) throw new TypeOverflow(`${list}.${name}`, type);
      child[name] = value;
    }
    from = end + 1;
    const siblings = found.get(parent);
    if (siblings) siblings.push(child);
    else found.set(parent, [child]);
  }
  return found;
}
