import { isoTime } from "../../base/clock.ts";
import type { Db } from "../../store/database.ts";
import { Repository } from "../../store/repository.ts";
import { Meta } from "../meta.ts";
import {
  countOld,
  rowsAtOnce,
  sumOf,
  type AgeLimit,
  type Removable,
  type RemovablePart,
} from "./old-rows.ts";

/** The event worker counts the deletions of a day by the change log, whatever the config says. */
const guardedMs = 24 * 3_600_000;
const beginKey = "changes_begin";

/** The first `seq` that a prune has left in the change log; 1: none was made. */
export function changesBegin(db: Db): number {
  return Number(new Meta(db).get(beginKey) ?? 1);
}

/**
 * Old changes, from the first on, with their reads.
 *
 * Guarantee: what is left is the end of the log without a gap, its last change included: no `seq` is given twice. A
 * change that is left has its `before` and `after`, because a row keeps the record as it was before.
 * Source of truth: `_change_log`; `changes_begin` of `_meta`, which is written with each removal, shows that it was no damage.
 * Worst outcome of a crash: the log begins at an earlier change than the config asks for.
 */
export class LoggedChanges extends Repository implements Removable {
  private readonly limit: AgeLimit;
  private readonly guarded: string;
  private readonly meta: Meta;

  constructor(db: Db, limit: AgeLimit) {
    super(db);
    this.limit = limit;
    this.guarded = isoTime(Date.parse(limit.now) - guardedMs);
    this.meta = new Meta(db);
  }

  start(): number {
    return 0;
  }

  find(from: number): RemovablePart {
    const sql = `SELECT l.seq, iif(l.op = 'delete' AND r.at > ?, ?, r.at) AS at, octet_length(l.before) AS bytes
      FROM _change_log l LEFT JOIN _reads r ON r.id = l.read
      WHERE l.seq >= ? AND l.seq < (SELECT max(seq) FROM _change_log) ORDER BY l.seq LIMIT ?`;
    type Selected = { readonly seq: number; readonly at: string | null; readonly bytes: number | null };
    const { guarded, limit } = this;
    const rows = this.selectAll<Selected>(sql, guarded, limit.now, from, rowsAtOnce);
    const times = rows.map(({ at }) => at);
    const old = rows.slice(0, countOld(times, limit));
    const last = old.at(-1)?.seq ?? 0;
    const bytes = sumOf(old.map((row) => row.bytes));
    const next = old.length === rowsAtOnce ? last + 1 : null;
    return { rows: old.length, bytes, next, remove: () => this.removeTo(last) };
  }

  private removeTo(last: number): void {
    this.execute("DELETE FROM _change_log WHERE seq <= ?", last);
    // Reads are numbered in the order of their changes.
    const kept = "SELECT read FROM _change_log ORDER BY seq LIMIT 1";
    this.execute(`DELETE FROM _reads WHERE id < (${kept})`);
    this.meta.set(beginKey, last + 1);
  }
}
