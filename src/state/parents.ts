import type { RecordId, RecordRef } from "../base/ids.ts";
import { insertRow, Repository } from "../store/own-tables/statement.ts";
import { quoted } from "../store/sql-text.ts";
import { fenceTable } from "../store/tables/table-layout.ts";
import { childPrefix } from "./work-item.ts";

/** A record with a list of its own, and when and by which run that was last read; null: never. */
interface ListedParent extends RecordRef {
  readonly listedAtMs: number | null;
  readonly run: number | null;
}

/** When each parent's list was last read, and by which run, in table `_parents`. */
export class Parents extends Repository {
  /** The list of `resource` below this parent was read; in the transaction that applies it. */
  markListed(resource: string, { resource: parent, id }: RecordRef, atMs: number, run: number): void {
    const row = { resource, parent_resource: parent, parent_id: id, listed_at: atMs, run };
    insertRow(this.db, "_parents", row, "or replace");
  }

  /** Was the list of `resource` below this parent never read, and is it not queued either, in whatever state? */
  isUnplanned(resource: string, parent: string, id: RecordId): boolean {
    const listed = "SELECT 1 FROM _parents WHERE resource = ? AND parent_resource = ? AND parent_id = ?";
    if (this.exists(listed, resource, parent, id)) return false;
    const queued = "SELECT 1 FROM _work WHERE resource = ? AND target BETWEEN ? AND ?";
    const pages = `${childPrefix(parent)}${id}`;
    return !this.exists(queued, resource, `${pages}:`, `${pages};`);
  }

  /**
   * Live records of these parent resources: those never listed first, then those that the earliest run listed. Runs are
   * in order whatever the clock says.
   *
   * @param beforeRun leaves out those that this run or a later one listed, and those that are queued
   */
  stalest(resource: string, parents: readonly string[], most: number, beforeRun: number | null = null) {
    const found = parents.flatMap((parent) => {
      const sql = `SELECT f.id, p.listed_at AS listedAtMs, p.run FROM ${quoted(fenceTable(parent))} f
        LEFT JOIN _parents p ON p.resource = @resource AND p.parent_resource = @parent AND p.parent_id = f.id
        WHERE f.gone = 0 AND (@beforeRun IS NULL OR (coalesce(p.run, -1) < @beforeRun AND NOT EXISTS
          (SELECT 1 FROM _work WHERE resource = @resource AND target BETWEEN @pages || f.id || ':' AND @pages || f.id || ';')))
        ORDER BY p.run, p.listed_at, f.id LIMIT @most`;
      const asked = { resource, parent, beforeRun, most, pages: childPrefix(parent) };
      const rows = this.selectExact<Omit<ListedParent, "resource">>(sql, asked);
      return rows.map((row): ListedParent => ({ resource: parent, ...row }));
    });
    return found.toSorted((a, b) => (a.run ?? 0) - (b.run ?? 0)).slice(0, most);
  }

  /** How many parents' lists of the resource were last read by this run or a later one. */
  countListed(resource: string, sinceRun: number): number {
    const sql = "SELECT count(*) FROM _parents WHERE resource = ? AND run >= ?";
    return this.selectColumn<number>(sql, resource, sinceRun)[0] ?? 0;
  }

  /** How many parents' lists of the resource are queued, in whatever state. */
  countQueued(resource: string): number {
    const sql = `SELECT count(DISTINCT (payload ->> 'parent') || (payload ->> 'parentId')) FROM _work
      WHERE resource = ? AND kind = 'child'`;
    return this.selectColumn<number>(sql, resource)[0] ?? 0;
  }

  /** How many live records of these parent resources there are whose list was never read. */
  countNeverListed(resource: string, parents: readonly string[]): number {
    return parents.reduce((sum, parent) => {
      // All live ones come from an index, and those that were listed by their ids: none is looked for in vain.
      const fences = quoted(fenceTable(parent));
      const sql = `SELECT (SELECT count(*) FROM ${fences} WHERE gone = 0) - (SELECT count(*) FROM _parents p
        JOIN ${fences} f ON f.id = p.parent_id WHERE p.resource = ? AND p.parent_resource = ? AND f.gone = 0)`;
      return sum + (this.selectColumn<number>(sql, resource, parent)[0] ?? 0);
    }, 0);
  }
}
