import type { Db, Statement } from "../store/database.ts";
import { runQuery } from "./open-books.ts";

/** What is known of the report that an answer is from. Every answer has it. */
export interface Freshness {
  /** When the report was published, ISO; of a combined one the earliest. */
  readonly as_of: string | null;
  /** Tables of which not all is known. */
  readonly incomplete_tables: readonly string[];
}

export interface Answer extends Freshness {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** What was left out; null: nothing. */
  readonly cut: string | null;
}

const mostRows = 1_000;
const mostCharacters = 50_000;
/** Of one value, where a row alone has too many. */
const longestValue = 1_000;

export function freshnessOf(db: Db): Freshness {
  const at = "SELECT min(value) FROM _about WHERE subject = 'report' AND fact = 'published_at'";
  const incomplete =
    "SELECT DISTINCT subject FROM _about WHERE fact = 'complete' AND value = 'no' ORDER BY 1";
  return {
    as_of: db.prepare(at).pluck().get() as string | null,
    incomplete_tables: db.prepare(incomplete).pluck().all() as string[],
  };
}

/** Answers a question with its first rows. @throws MirrorError `usage` as `runQuery` */
export function answerOf(db: Db, sql: string): Answer {
  return { ...freshnessOf(db), ...runQuery(db, sql, firstRows) };
}

function firstRows(statement: Statement): Omit<Answer, keyof Freshness> {
  const columns = statement.columns().map(({ name }) => name);
  const rows: unknown[][] = [];
  let characters = 0;
  for (const cells of statement.safeIntegers().raw().iterate() as IterableIterator<unknown[]>) {
    const row = fitting(cells.map(valueOf));
    characters += JSON.stringify(row).length;
    if (rows.length === mostRows) return { columns, rows, cut: `only the first ${mostRows} rows` };
    if (characters > mostCharacters)
      return { columns, rows, cut: `only the first ${rows.length} rows: ${mostCharacters} characters` };
    rows.push(row);
  }
  return { columns, rows, cut: null };
}

/** A number that JSON cannot hold exactly is text. */
function valueOf(cell: unknown): unknown {
  if (typeof cell === "bigint") return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);
  return Buffer.isBuffer(cell) ? `${cell.length} bytes` : cell;
}

function fitting(row: readonly unknown[]): unknown[] {
  if (JSON.stringify(row).length <= mostCharacters / 2) return [...row];
  const shorten = (value: string) =>
    value.length > longestValue ? `${value.slice(0, longestValue)}… (${value.length} characters)` : value;
  return row.map((value) => (typeof value === "string" ? shorten(value) : value));
}
