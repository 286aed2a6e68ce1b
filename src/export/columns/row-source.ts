import { quoted } from "../../store/sql-text.ts";
import type { Db, Statement } from "../../store/database.ts";
import { cellsSql } from "./cells.ts";
import { release } from "../release.ts";

/**
 * Where a table's rows are read from, some at a time: in the order of a whole number that grows. The number is
 * what the rows are stored by, so a range of it is a scan in its order; to ask for that order in so many words
 * costs a quarter more.
 */
export interface RowSource {
  /** What stands after FROM. */
  readonly from: string;
  /** An expression over it: the number. Several rows may share one. */
  readonly key: string;
  /** What is read, by the names it gets. */
  readonly columns: readonly { readonly name: string; readonly sql: string }[];
}

/** Keys above `after`, up to and with `upTo`; bigint, because ids may be past 2^53. */
export interface KeyRange {
  readonly after: bigint;
  readonly upTo: bigint;
}

/** Below every key there is. */
const beforeAll = -1n;

export function columnsNamed(names: readonly string[]): RowSource["columns"] {
  return names.map((name) => ({ name, sql: quoted(name) }));
}

/** So many bytes are asked of SQLite at once: enough to be fast, little enough for a thread's memory. */
const pieceBytes = 400_000;
const mostPieceRows = 4_000;

/** Reads ranges of a source as cells, in pieces whose rows follow from the size of those before. */
export class PieceReader {
  readonly #cells: Statement;
  readonly #bound: Statement;
  #rowsAtOnce = 250;

  constructor(db: Db, source: RowSource) {
    const { from, key, columns } = source;
    const expressions = columns.map(({ sql }) => sql);
    this.#cells = db.prepare(cellsSql(expressions, `${from} WHERE ${key} > ? AND ${key} <= ?`)).pluck();
    this.#bound = boundStatement(db, source);
  }

  /** One piece after another, gone when it was taken; a single key's rows are never torn apart. */
  read({ after, upTo }: KeyRange, take: (cells: Uint8Array, range: KeyRange) => void): void {
    for (let at = after; at < upTo;) {
      const rows = this.#rowsAtOnce;
      const bound = this.#bound.get(at, rows - 1) as bigint | undefined;
      const end = bound === undefined || bound > upTo ? upTo : bound;
      const cells = this.#cells.get(at, end) as Uint8Array | null;
      if (cells !== null) {
        const sizeBytes = cells.length;
        take(cells, { after: at, upTo: end });
        release(cells);
        const fitting = Math.floor((rows * pieceBytes) / (sizeBytes + 1));
        if (bound !== undefined) this.#rowsAtOnce = Math.max(1, Math.min(mostPieceRows, fitting));
      }
      at = end;
    }
  }
}

/** The key of the row that stands so many rows after a key. */
function boundStatement(db: Db, { from, key }: RowSource): Statement {
  const sql = `SELECT ${key} FROM ${from} WHERE ${key} > ? ORDER BY ${key} LIMIT 1 OFFSET ?`;
  return db.prepare(sql).pluck().safeIntegers(true);
}

/** The ranges that a source's rows fall into, so many rows each; lazily, while others are read already. */
export function* rangesOf(db: Db, source: RowSource, rowsEach: number): Generator<KeyRange> {
  const bound = boundStatement(db, source);
  let after = beforeAll;
  for (;;) {
    const next = bound.get(after, rowsEach - 1) as bigint | undefined;
    if (next === undefined) break;
    yield { after, upTo: next };
    after = next;
  }
  const last = db.prepare(`SELECT max(${source.key}) FROM ${source.from}`).pluck().safeIntegers(true).get();
  if (typeof last === "bigint" && last > after) yield { after, upTo: last };
}
