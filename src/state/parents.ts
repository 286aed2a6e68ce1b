import { canonicalId, type RecordId } from "../base/ids.ts";
import { Repository } from "../store/repository.ts";
import { quoted } from "../store/sql-text.ts";
import { fenceTable } from "../store/tables/table-layout.ts";
import { childPrefix } from "./work-item.ts";

/** When a parent's list was read, epoch ms. */
interface Listed {
  readonly beforeMs?: number | undefined;
  /** One that was read after this was read before the clock was set back: nobody knows when. */
  readonly nowMs?: number | undefined;
}

/** A record with a list of its own, and when that was last read; null: never. */
interface ListedParent {
  readonly resource: string;
  readonly id: RecordId;
  readonly listedAtMs: number | null;
}

/** When each parent's list was last read, in table `_parents`. */
export class Parents extends Repository {
  /** The list of `resource` below this parent was read; in the transaction that applies it. */
  markListed(resource: string, parent: string, id: RecordId, atMs: number): void {
    const sql = `INSERT INTO _parents VALUES (?, ?, ?, ?)
      ON CONFLICT (resource, parent_resource, parent_id) DO UPDATE SET listed_at = excluded.listed_at`;
    this.execute(sql, resource, parent, id, atMs);
  }

  /** Was the list of `resource` below this parent never read, and is it not queued either, in whatever state? */
  isUnplanned(resource: string, parent: string, id: RecordId): boolean {
    const read = "SELECT 1 FROM _parents WHERE resource = ? AND parent_resource = ? AND parent_id = ?";
    if (this.exists(read, resource, parent, id)) return false;
    const queued = "SELECT 1 FROM _work WHERE resource = ? AND target BETWEEN ? AND ?";
    const pages = childPrefix(parent, id);
    return !this.exists(queued, resource, pages, `${pages}\u{10ffff}`);
  }

  /**
   * Live records of these parent resources: those never listed first, then those listed longest ago.
   *
   * @param listed leaves out those that were listed then or later
   */
  stalest(resource: string, parents: readonly string[], most: number, listed: Listed = {}): ListedParent[] {
    return parents
      .flatMap((parent) => this.stalestOf({ resource, parent }, most, listed))
      .toSorted((a, b) => (a.listedAtMs ?? 0) - (b.listedAtMs ?? 0))
      .slice(0, most);
  }

  /** How many live records of these parent resources there are whose list was never read. */
  countNeverListed(resource: string, parents: readonly string[]): number {
    return parents.reduce((sum, parent) => {
      const sql = `SELECT count(*) FROM ${quoted(fenceTable(parent))} f WHERE f.gone = 0 AND NOT EXISTS (
        SELECT 1 FROM _parents p WHERE p.resource = ? AND p.parent_resource = ? AND p.parent_id = f.id)`;
      return sum + (this.selectColumn<number>(sql, resource, parent)[0] ?? 0);
    }, 0);
  }

  private stalestOf(
    { resource, parent }: { readonly resource: string; readonly parent: string },
    most: number,
    { beforeMs = Number.MAX_SAFE_INTEGER, nowMs = Number.MAX_SAFE_INTEGER }: Listed,
  ): ListedParent[] {
    const sql = `SELECT f.id, p.listed_at AS listedAt FROM ${quoted(fenceTable(parent))} f
      LEFT JOIN _parents p ON p.resource = ? AND p.parent_resource = ? AND p.parent_id = f.id
      WHERE f.gone = 0 AND (p.listed_at IS NULL OR p.listed_at < ? OR p.listed_at > ?)
      ORDER BY p.listed_at IS NOT NULL, p.listed_at, f.id LIMIT ?`;
    const rows = this.statement(sql).safeIntegers().all(resource, parent, beforeMs, nowMs, most);
    return (rows as { id: bigint; listedAt: bigint | null }[]).map(({ id, listedAt }) => ({
      resource: parent,
      id: canonicalId(id),
      listedAtMs: listedAt === null ? null : Number(listedAt),
    }));
  }
}
