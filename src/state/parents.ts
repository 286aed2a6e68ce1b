import { canonicalId, type RecordId } from "../base/ids.ts";
import { quoted } from "../store/sql-text.ts";
import type { Db } from "../store/database.ts";
import { fenceTable } from "../store/tables/table-statements.ts";

/**
 * When each parent's list was last read, kept only where parents are spread over runs: with all of
 * them in every run, the run itself is the answer.
 */
export class Parents {
  private readonly db: Db;

  constructor(db: Db) {
    this.db = db;
  }

  listed(resource: string, parent: string, id: RecordId, atMs: number): void {
    this.db
      .prepare(
        `INSERT INTO _parents VALUES (?, ?, ?, ?)
         ON CONFLICT (resource, parent_resource, parent_id) DO UPDATE SET listed_at = excluded.listed_at`,
      )
      .run(resource, parent, id, atMs);
  }

  /** Live parents, those never listed first, then by staleness. */
  stalest(resource: string, parent: string, most: number): { id: RecordId; listedAtMs: number | null }[] {
    const sql = `SELECT f.id, p.listed_at FROM ${quoted(fenceTable(parent))} f
      LEFT JOIN _parents p ON p.resource = ? AND p.parent_resource = ? AND p.parent_id = f.id
      WHERE f.gone = 0 ORDER BY p.listed_at IS NOT NULL, p.listed_at, f.id LIMIT ?`;
    const rows = this.db.prepare(sql).safeIntegers(true).all(resource, parent, most) as {
      id: bigint;
      listed_at: bigint | null;
    }[];
    return rows.map((row) => ({
      id: canonicalId(row.id),
      listedAtMs: row.listed_at === null ? null : Number(row.listed_at),
    }));
  }
}
