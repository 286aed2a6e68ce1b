import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { Resource } from "../../connector/resource.ts";
import { Changes } from "../../store/apply/change-log.ts";
import type { Db } from "../../store/database.ts";
import { insertRow, parseStored, selectRows, updateRows } from "../../store/own-tables/statement.ts";
import { quoted } from "../../store/sql-text.ts";
import { knownPlan } from "../../store/tables/table-plan.ts";
import { readLog } from "../log-identity.ts";
import type { MirrorMoment } from "./moment.ts";

/** A package of a month that was made: what it showed, and the hashes of its files by their path. */
interface HandOver extends MirrorMoment {
  readonly month: string;
  readonly command: string;
  readonly files: Readonly<Record<string, string>>;
}

/** The hand-overs of a month in their order, in table `_hand_overs`. */
export function handOversOf(db: Db, month: string): HandOver[] {
  const columns = ["month", "position", "log", "at", "command", "files", "id"] as const;
  return selectRows(db, "_hand_overs", columns, { month }, "id").map(({ position: seq, files, ...row }) => ({
    ...row,
    seq,
    files: parseStored(db, files) as HandOver["files"],
  }));
}

/** Where its documents are those of the last one again, that one moves to its position: other sheets may have changed. */
export function recordHandOver(db: Db, { seq, files, ...row }: HandOver, isAgain = false): void {
  const shown = { log: row.log, position: seq, files: JSON.stringify(files) };
  const last =
    isAgain && selectRows(db, "_hand_overs", ["id", "position"], { month: row.month }, "id").at(-1);
  if (!last) insertRow(db, "_hand_overs", { ...row, ...shown });
  else if (last.position < seq) updateRows(db, "_hand_overs", shown, { id: last.id });
}

const mostMonths = 12;

/**
 * Counts the documents that changed since their month was handed over, of the latest months. A document counts that is of
 * the month, or was before one of its changes; not one whose rows were derived again. Each reading goes on from the change
 * that the last one ended with, so that pages can ask for it.
 */
export class HandOverCounts {
  private handOvers = "";
  private seen = 0;
  private readonly changed = new Map<string, Set<string>>();

  /** @param only this month, however old; null: the latest ones */
  read(db: Db, declaration: ConnectorDeclaration, only: string | null = null) {
    return db.transaction(() => this.readOneState(db, declaration, only))();
  }

  private readOneState(db: Db, { resources, monthPackage }: ConnectorDeclaration, only: string | null) {
    const latest = `SELECT month, position, at FROM _hand_overs h
      WHERE id = (SELECT max(id) FROM _hand_overs WHERE month = h.month) AND coalesce(month = @only, true)
      ORDER BY month DESC LIMIT ${mostMonths}`;
    const rows = db.prepare(latest).all({ only }) as { month: string; position: number; at: string }[];
    if (rows.length === 0) return [];
    const known = JSON.stringify([readLog(db).id, rows]);
    if (known !== this.handOvers) {
      this.handOvers = known;
      this.seen = Math.min(...rows.map(({ position }) => position));
      this.changed.clear();
    }
    const documents = resources.filter(({ name }) => monthPackage?.documents.includes(name));
    for (const resource of documents) this.add(db, resource, rows);
    const log = new Changes(db);
    this.seen = log.lastSeq();
    return rows.map(({ month, at, position }) => {
      /** Changes since may be pruned: so many more documents may have changed. */
      const pruned = !log.holdsAfter(position);
      return { month, at, changed: this.changed.get(month)?.size ?? 0, pruned };
    });
  }

  private add(db: Db, resource: Resource, rows: readonly { month: string; position: number }[]): void {
    const date = resource.files?.date ?? "";
    const path = knownPlan(resource).columns.find(({ name }) => name === date)?.paths[0] ?? [];
    const sql = `SELECT l.record_id AS id, h.value ->> 'month' AS month FROM _change_log l
      LEFT JOIN ${quoted(resource.name)} t ON t.id = l.record_id
      JOIN json_each(@rows) h ON l.seq > h.value ->> 'position' AND h.value ->> 'month' IN
        (substr(t.${quoted(date)}, 1, 7), substr(l.before ->> '$.${path.join(".")}', 1, 7))
      WHERE l.seq > @seen AND l.resource = '${resource.name}' AND l.op <> 'event'
        AND (SELECT cause FROM _reads WHERE id = l.read) <> 'schema'`;
    const found = db
      .prepare(sql)
      .safeIntegers()
      .all({ rows: JSON.stringify(rows), seen: this.seen });
    for (const { id, month } of found as { id: bigint; month: string }[]) {
      const ids = this.changed.get(month) ?? new Set();
      this.changed.set(month, ids.add(`${resource.name} ${id}`));
    }
  }
}
