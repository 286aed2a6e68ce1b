import { canonicalId, type RecordId } from "../../base/ids.ts";
import { quoted } from "../sql-text.ts";
import type { Db } from "../database.ts";
import { Statements } from "../statements.ts";
import { fenceTable } from "./table-statements.ts";

/** A column that holds the id of a parent. */
export interface ParentColumn {
  readonly parent: string;
  readonly column: string;
}

/** Reads what the mirror holds of resources: rows and fences. Never writes. */
export class Records {
  private readonly statements: Statements;

  constructor(db: Db) {
    this.statements = new Statements(db);
  }

  liveCount(resource: string): number {
    return Number(
      this.statements
        .get(`SELECT count(*) FROM ${fence(resource)} WHERE gone = 0`)
        .pluck()
        .get(),
    );
  }

  counts(resource: string): { live: number; deleted: number } {
    const sql = `SELECT count(*) - coalesce(sum(gone), 0) AS live, coalesce(sum(gone), 0) AS deleted FROM ${fence(resource)}`;
    return this.statements.get(sql).get() as { live: number; deleted: number };
  }

  isLive(resource: string, id: RecordId): boolean {
    return (
      this.statements.get(`SELECT 1 FROM ${fence(resource)} WHERE id = ? AND gone = 0`).get(id) !== undefined
    );
  }

  liveIds(resource: string): RecordId[] {
    return this.ids(`SELECT id FROM ${fence(resource)} WHERE gone = 0 ORDER BY id`);
  }

  /** Live records last received before `seq`: those that a sweep begun then must show. */
  liveIdsReceivedBefore(resource: string, seq: number): RecordId[] {
    return this.ids(`SELECT id FROM ${fence(resource)} WHERE gone = 0 AND received_seq < ? ORDER BY id`, seq);
  }

  /** Live records that have these values, by column. */
  liveIdsWhere(table: string, values: Readonly<Record<string, RecordId | string>>): RecordId[] {
    const where = Object.keys(values).map((column) => `${quoted(column)} = ? AND `);
    const sql = `SELECT id FROM ${quoted(table)} WHERE ${where.join("")}_deleted_at IS NULL ORDER BY id`;
    return this.ids(sql, ...Object.values(values));
  }

  /** Live records that name a parent, and have no live one; those received longest ago first. */
  liveWithoutParent(table: string, column: string, links: readonly ParentColumn[], most: number): RecordId[] {
    const dead = links.map(
      (link) =>
        `NOT EXISTS (SELECT 1 FROM ${fence(link.parent)} p WHERE p.id = c.${quoted(link.column)} AND p.gone = 0)`,
    );
    return this.ids(
      `SELECT c.id FROM ${quoted(table)} c JOIN ${fence(table)} f ON f.id = c.id WHERE f.gone = 0
         AND c.${quoted(column)} IS NOT NULL AND ${dead.join(" AND ")} ORDER BY f.received_seq LIMIT ?`,
      most,
    );
  }

  /** The details read longest ago, not after `beforeMs`. */
  oldestDetails(resource: string, beforeMs: number, most: number): { id: RecordId; readAtMs: number }[] {
    const rows = this.statements
      .get(
        `SELECT id, read_at FROM ${fence(resource)} WHERE gone = 0 AND read_at <= ? ORDER BY read_at LIMIT ?`,
      )
      .safeIntegers(true)
      .all(beforeMs, most) as { id: bigint; read_at: bigint }[];
    return rows.map((row) => ({ id: canonicalId(row.id), readAtMs: Number(row.read_at) }));
  }

  /** The newest value of a column among the live rows of these tables; null: no row has one. */
  latestValue(tables: readonly string[], column: string): string | null {
    for (const table of tables) {
      const sql = `SELECT ${quoted(column)} FROM ${quoted(table)}
        WHERE ${quoted(column)} IS NOT NULL AND _deleted_at IS NULL ORDER BY id DESC LIMIT 1`;
      const value = this.statements.get(sql).pluck().get() as string | number | undefined;
      if (value !== undefined) return String(value);
    }
    return null;
  }

  /** Values of a row, live or deleted, as text; empty where there is no row. */
  texts(table: string, id: RecordId, columns: readonly string[]): (string | null)[] {
    const cast = columns.map((column) => `CAST(${quoted(column)} AS TEXT)`);
    const sql = `SELECT ${cast.join(", ")} FROM ${quoted(table)} WHERE id = ?`;
    return (this.statements.get(sql).raw().get(id) ?? []) as (string | null)[];
  }

  /**
   * Some live records other than `except`: the newest, the oldest, one from the middle, and so on, because
   * records that are deleted together were often created together. `where` is a condition on the fence's `id`.
   */
  spread(resource: string, except: RecordId, where = "1"): RecordId[] {
    const table = fence(resource);
    const middle = `${where} AND id >= (SELECT (min(id) + max(id)) / 2 FROM ${table})`;
    const pick = (condition: string, order: string) =>
      this.ids(
        `SELECT id FROM ${table} WHERE gone = 0 AND id <> ? AND ${condition} ORDER BY id ${order} LIMIT 3`,
        except,
      );
    const picks = [pick(where, "DESC"), pick(where, "ASC"), pick(middle, "ASC")];
    return [...new Set([0, 1, 2].flatMap((turn) => picks.flatMap((ids) => ids[turn] ?? [])))];
  }

  private ids(sql: string, ...parameters: (RecordId | string)[]): RecordId[] {
    const ids = this.statements
      .get(sql)
      .pluck()
      .safeIntegers(true)
      .all(...parameters) as bigint[];
    return ids.map(canonicalId);
  }
}

function fence(resource: string): string {
  return quoted(fenceTable(resource));
}
