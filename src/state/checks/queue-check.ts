import { lanes } from "../../base/lane.ts";
import { removeRows } from "../../store/own-tables/own-rows.ts";
import { statement } from "../../store/own-tables/statement.ts";
import { Repository } from "../../store/repository.ts";
import type { WorkItem } from "../work-item.ts";

/** A row of `_work` as it stands, which may be anything. */
export interface QueuedRow extends Pick<WorkItem, "id" | "resource" | "target" | "dirtySeq"> {
  readonly kind: string;
  readonly lane: number;
  readonly state: string;
  readonly payload: string | null;
  readonly reason: string;
}

/** An open listing by its list. */
export interface ListingName {
  readonly resource: string;
  readonly variant: string;
}

const states = new Set(["ready", "dead", "held"]);

/** The work queue and the open listings as they stand, for people who doubt them. */
export class QueueCheck extends Repository {
  /** Rows after this id, some at a time. */
  rowsAfter(id: number, most: number): QueuedRow[] {
    return rowsAfter.all(this.db, { id, most });
  }

  remove(id: number): void {
    removeRows(this.db, "_work", { id });
  }

  /** Pages of listings that are not open, and open listings without a page that is read or queued. */
  brokenListings(): ListingName[] {
    const sql = `SELECT resource, variant FROM _listing_pages p WHERE NOT EXISTS
        (SELECT 1 FROM _listings l WHERE l.resource = p.resource AND l.variant = p.variant)
      UNION SELECT resource, variant FROM _listings l WHERE NOT EXISTS
        (SELECT 1 FROM _listing_pages p WHERE p.resource = l.resource AND p.variant = l.variant)
        AND NOT EXISTS (SELECT 1 FROM _work w WHERE w.resource = l.resource AND w.kind IN ('list', 'child'))`;
    return this.selectAll(sql);
  }
}

const rowsAfter = statement((db, p: { id: number; most: number }) => {
  const rows = db.selectFrom("_work").where("id", ">", p.id).orderBy("id").limit(p.most);
  return rows.select([
    "id",
    "resource",
    "target",
    "kind",
    "lane",
    "state",
    "payload",
    "reason",
    "dirty_seq as dirtySeq",
  ]);
});

/** What of a row no worker understands; null: nothing. What its read would be is the caller's to judge. Pure. */
export function oddPartOf({ lane, state, payload }: QueuedRow): string | null {
  if (lanes[lane] === undefined) return `lane ${lane}`;
  if (!states.has(state)) return `state ${state}`;
  try {
    if (payload !== null) JSON.parse(payload);
    return null;
  } catch {
    return "payload";
  }
}
