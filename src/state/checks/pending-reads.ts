import { recordId, type RecordId } from "../../base/ids.ts";
import { laneRank } from "../../base/lane.ts";
import { Repository } from "../../store/own-tables/statement.ts";
import { recordTarget } from "../work-item.ts";

/** A record, and what was to be read when it was looked at first. */
interface PendingQuestion {
  readonly resource: string;
  readonly id: RecordId;
  readonly reason: number;
  /** Epoch milliseconds; what is due later, as a recheck, does not count. */
  readonly nowMs: number;
}

/**
 * Says what the writer of a mirror is about to read, or could not.
 *
 * Guarantee: nothing is written. Source of truth: table `_work`. Worst outcome of a crash: none.
 */
export class PendingReads extends Repository {
  /** Number of the newest reason to read in the queue; 0: it is empty. */
  newestReason(): number {
    const [newest] = this.selectColumn<number | null>("SELECT max(dirty_seq) FROM _work");
    return newest ?? 0;
  }

  /**
   * Does the record's own read wait, a page of a list that may show it, or the read of any record that was known to have
   * changed when this one was looked at first: it may lead to this one?
   */
  mayBeRead({ resource, id, reason, nowMs }: PendingQuestion): boolean {
    const isReady = "SELECT 1 FROM _work WHERE state = 'ready'";
    const own = `${isReady} AND due_ms <= ? AND resource = ? AND target = ?`;
    const lists = `${isReady} AND due_ms <= ? AND resource = ? AND kind IN ('list', 'child')`;
    const changed = `${isReady} AND due_ms <= ? AND lane IN (?, ?) AND dirty_seq <= ?`;
    return (
      this.exists(own, nowMs, resource, recordTarget(id)) ||
      this.exists(lists, nowMs, resource) ||
      this.exists(changed, nowMs, laneRank("webhook"), laneRank("changed"), reason)
    );
  }

  /** Why a target from `first` to `last` in the lane of lists, or put off, is not answered; null: all of them are. */
  whyUnanswered(resource: string, first: string, last = first): string | null {
    const sql = `SELECT coalesce(error, 'it was not answered') FROM _work
      WHERE resource = ? AND target BETWEEN ? AND ? AND (lane = ${laneRank("list")} OR error IS NOT NULL) LIMIT 1`;
    return this.selectColumn<string>(sql, resource, first, last)[0] ?? null;
  }

  records(resource: string): RecordId[] {
    const sql = "SELECT substr(target, 4) FROM _work WHERE resource = ? AND target BETWEEN 'id:' AND 'id;'";
    return this.selectColumn<string>(sql, resource).flatMap((text) => recordId(text) ?? []);
  }
}
