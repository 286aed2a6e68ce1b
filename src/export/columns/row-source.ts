import type { Db, Statement } from "../../store/database.ts";
import { isOverlay } from "../../store/snapshot/overlay.ts";
import { cellsSql, freeBytes, type CellsRow } from "./cells.ts";

/**
 * Where a table's rows are read from: by ranges of an integer key, which is the order they are stored in. A
 * range scan gives that order for free; an explicit ORDER BY costs a quarter more.
 */
export interface RowSource {
  /** What stands after FROM. */
  readonly from: string;
  /** SQL of the key. Several rows may share one value. */
  readonly key: string;
  /** SQL of the columns to read. */
  readonly columns: readonly string[];
}

/** Keys above `after`, up to and including `upTo`. Ids may exceed 2^53. */
export interface KeyRange {
  readonly after: bigint;
  readonly upTo: bigint;
}

/** Keys are never negative. */
const beforeAll = -1n;

/** Read from SQLite at once: enough to be fast, small enough for the memory of a thread. */
const pieceBytes = 400_000;
const maxPieceRows = 4_000;

/** Reads ranges of a source as cells, in pieces of about `pieceBytes`. */
export class CellReader {
  readonly #cells: Statement;
  readonly #keyAtOffset: Statement;
  #pieceRows = 250;

  constructor(db: Db, source: RowSource) {
    const { from, key, columns } = source;
    // An overlay's rows come after those of the live mirror.
    const order = isOverlay(db, "main") ? key : null;
    this.#cells = db.prepare(cellsSql(columns, `${from} WHERE ${key} > ? AND ${key} <= ?`, order)).raw();
    this.#keyAtOffset = keyAtOffset(db, source);
  }

  /** Gives `take` each piece, freed when it returns, rows of one key together. Returns the number of rows. */
  read({ after, upTo }: KeyRange, take: (cells: Uint8Array, piece: KeyRange) => void): number {
    let total = 0;
    for (let at = after; at < upTo;) {
      const next = this.#keyAtOffset.get(at, this.#pieceRows - 1) as bigint | undefined;
      const end = next === undefined || next > upTo ? upTo : next;
      const [rows, cells] = this.#cells.get(at, end) as CellsRow;
      total += rows;
      if (cells !== null) {
        const sizeBytes = cells.length;
        take(cells, { after: at, upTo: end });
        freeBytes(cells);
        const fitting = Math.floor((rows * pieceBytes) / (sizeBytes + 1));
        if (next !== undefined) this.#pieceRows = Math.max(1, Math.min(maxPieceRows, fitting));
      }
      at = end;
    }
    return total;
  }
}

/** Prepares: the key of the row that stands a number of rows after a key. */
function keyAtOffset(db: Db, { from, key }: RowSource): Statement {
  const sql = `SELECT ${key} FROM ${from} WHERE ${key} > ? ORDER BY ${key} LIMIT 1 OFFSET ?`;
  return db.prepare(sql).pluck().safeIntegers(true);
}

/** Divides a source into ranges of `rowsEach` rows; lazily, so that encoding starts at once. */
export function* rangesOf(db: Db, source: RowSource, rowsEach: number): Generator<KeyRange> {
  const statement = keyAtOffset(db, source);
  let after = beforeAll;
  for (;;) {
    const next = statement.get(after, rowsEach - 1) as bigint | undefined;
    if (next === undefined) break;
    yield { after, upTo: next };
    after = next;
  }
  const last = db.prepare(`SELECT max(${source.key}) FROM ${source.from}`).pluck().safeIntegers(true).get();
  if (typeof last === "bigint" && last > after) yield { after, upTo: last };
}
