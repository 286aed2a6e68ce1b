import type { RecordId } from "../../base/ids.ts";
import { changesBegin } from "../retention/logged-changes.ts";
import { insertRow, updateRows } from "../../store/own-tables/own-rows.ts";
import { Repository } from "../../store/repository.ts";
import type { LastChange } from "./last-changes.ts";

/** A change that does not fit to the record's others. */
export interface BrokenChange extends LastChange {
  readonly resource: string;
  readonly recordId: RecordId;
  /** The number that it names as the record's next change. */
  readonly next: number | null;
  /** The record's next change. */
  readonly following: number | null;
  /** The record never had an earlier one. */
  readonly isFirst: boolean;
}

/**
 * The change log by itself: are the changes of each record a chain that begins with an insert, where no prune has
 * removed its beginning? Changes between the last one and the row are the record's own affair.
 */
export class ChangeLogCheck extends Repository {
  private readonly isWhole = changesBegin(this.db) === 1;

  /** The first of them, by resource and record. Sorts the log, without the JSON. */
  broken(most: number): BrokenChange[] {
    const sql = `SELECT seq, resource, record_id AS recordId, op, next_seq AS next, following, earlier IS NULL AS isFirst
      FROM (SELECT seq, resource, record_id, op, next_seq, lead(seq) OVER changes AS following,
          lag(seq) OVER changes AS earlier FROM _change_log WHERE op <> 'event'
          WINDOW changes AS (PARTITION BY resource, record_id ORDER BY seq))
      WHERE (op <> 'delete' AND next_seq IS NOT following) OR op NOT IN ('insert', 'update', 'delete')
        OR (op = 'update' AND earlier IS NULL AND ?) LIMIT ?`;
    const rows = this.selectExact<BrokenChange>(sql, Number(this.isWhole), most);
    return rows.map((row) => ({ ...row, isFirst: Number(row.isFirst) === 1 && this.isWhole }));
  }

  /** Puts a change right. The first of a record is an insert, whatever was lost before it. */
  mend({ seq, op, following, isFirst }: BrokenChange): void {
    const right = op === "delete" || (op === "insert" && !isFirst) ? op : isFirst ? "insert" : "update";
    const changes = { op: right, next_seq: following, ...(right === "insert" && { before: null }) };
    updateRows(this.db, "_change_log", changes, { seq });
  }

  /** Numbers of reads that changes name and that are not there: such changes are not shown to anybody. */
  lostReads(most: number): number[] {
    const sql = `SELECT DISTINCT read FROM _change_log l
      WHERE NOT EXISTS (SELECT 1 FROM _reads r WHERE r.id = l.read) LIMIT ?`;
    return this.selectColumn(sql, most);
  }

  /** @param at ISO */
  restoreRead(id: number, at: string): void {
    insertRow(this.db, "_reads", { id, at, cause: "repair" });
  }
}
