import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Db } from "../../store/database.ts";
import { insertRow, selectRows } from "../../store/own-tables/statement.ts";
import { quoted } from "../../store/sql-text.ts";
import { knownPlan } from "../../store/tables/table-plan.ts";
import type { MirrorMoment } from "./moment.ts";

/** A package of a month that was made: what it showed, and the hashes of its files by their path. */
export interface HandOver extends MirrorMoment {
  readonly month: string;
  /** Who asked. */
  readonly command: string;
  readonly files: Readonly<Record<string, string>>;
}

/** The hand-overs of a month in their order, in table `_hand_overs`. */
export function handOversOf(db: Db, month: string): HandOver[] {
  const columns = ["month", "position", "log", "at", "command", "files", "id"] as const;
  return selectRows(db, "_hand_overs", columns, { month }, "id").map(({ position: seq, files, ...row }) => ({
    ...row,
    seq,
    files: JSON.parse(files) as HandOver["files"],
  }));
}

export function recordHandOver(db: Db, { seq: position, files, ...row }: HandOver): void {
  insertRow(db, "_hand_overs", { ...row, position, files: JSON.stringify(files) });
}

/** How many documents of a month changed since it was handed over last. */
export interface HandOverState {
  readonly month: string;
  readonly at: string;
  readonly changed: number;
}

const mostMonths = 12;
const inMonth = (day: string) => `substr(${day}, 1, 7) = @month`;

/** Of the latest months. A document counts that is of the month, or was before one of its changes. */
export function handOverStates(db: Db, { resources, monthPackage }: Manifest): HandOverState[] {
  const latest = `SELECT month, position, at FROM _hand_overs h
    WHERE id = (SELECT max(id) FROM _hand_overs WHERE month = h.month) ORDER BY month DESC LIMIT ${mostMonths}`;
  const documents = resources.filter(({ name }) => monthPackage?.documents.includes(name));
  const counts = documents.map((resource) => {
    const date = resource.files?.date ?? "";
    const path = knownPlan(resource).columns.find(({ name }) => name === date)?.paths[0] ?? [];
    return db
      .prepare(
        `SELECT count(DISTINCT l.record_id) FROM _change_log l
      LEFT JOIN ${quoted(resource.name)} t ON t.id = l.record_id
      WHERE l.seq > @position AND l.resource = '${resource.name}' AND l.op <> 'event'
        AND (${inMonth(`t.${quoted(date)}`)} OR ${inMonth(`l.before ->> '$.${path.join(".")}'`)})`,
      )
      .pluck();
  });
  const months = db.prepare(latest).all() as { month: string; position: number; at: string }[];
  return months.map(({ month, position, at }) => {
    const changed = counts.reduce((sum, count) => sum + Number(count.get({ month, position })), 0);
    return { month, at, changed };
  });
}
