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

const beginKey = "inbox_bodies_begin";

/**
 * Bodies of old events. The row stays with its event id, so that a delivery repeated years later is known (I7); in
 * place of the body stands its length, a number, which no body is.
 *
 * Guarantee: an event that waits for its read keeps its body.
 * Source of truth: `_inbox`; before `inbox_bodies_begin` of `_meta` there is no body.
 * Worst outcome of a crash: some bodies stay until the next prune.
 */
export class InboxBodies extends Repository implements Removable {
  private readonly limit: AgeLimit;
  private readonly meta: Meta;
  /** The first that was left; null: none. */
  private left: number | null = null;

  constructor(db: Db, limit: AgeLimit) {
    super(db);
    this.limit = limit;
    this.meta = new Meta(db);
  }

  start(): number {
    return Number(this.meta.get(beginKey) ?? 0);
  }

  find(from: number): RemovablePart {
    const sql = `SELECT seq, received_at AS at, state = 'waiting' AS waits,
        iif(typeof(body) = 'integer', NULL, octet_length(body)) AS bytes
      FROM _inbox WHERE seq >= ? ORDER BY seq LIMIT ?`;
    type Selected = { seq: number; at: string; waits: number; bytes: number | null };
    const rows = this.selectAll<Selected>(sql, from, rowsAtOnce);
    const times = rows.map(({ at }) => at);
    const old = rows.slice(0, countOld(times, this.limit));
    this.left ??= old.find(({ waits }) => waits === 1)?.seq ?? null;
    const going = old.filter(({ waits, bytes }) => waits === 0 && bytes !== null);
    const last = old.at(-1)?.seq ?? 0;
    const next = old.length === rowsAtOnce ? last + 1 : null;
    const remove = () => this.removeBetween(from, last);
    return { rows: going.length, bytes: sumOf(going.map(({ bytes }) => bytes)), next, remove };
  }

  private removeBetween(from: number, last: number): void {
    const sql = `UPDATE _inbox SET body = octet_length(body)
      WHERE seq BETWEEN ? AND ? AND state <> 'waiting' AND typeof(body) <> 'integer'`;
    this.execute(sql, from, last);
    this.meta.set(beginKey, this.left ?? last + 1);
  }
}
