import { existsSync } from "node:fs";
import { quoted } from "../store/sql-text.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { SnapshotTable } from "../store/snapshot/snapshot-tables.ts";
import { openDatabase, type Db } from "../store/database.ts";

/** What a report knows of the mirror it was made from: with the same, it would be the same report. */
export interface Origin {
  readonly seq: number;
  /** Tells the change of that seq from one of another mirror that counted as far. */
  readonly lastChange: string;
  readonly layout: string;
  readonly reportDate: string;
}

/** Of a report that is there; null where it cannot be read, and is to be made anew. */
export function readOrigin(report: string): (Origin & { readonly rows: number }) | null {
  if (!existsSync(report)) return null;
  let db: Db | null = null;
  try {
    db = openDatabase(report, { readonly: true });
    const facts = new Map(
      db.prepare("SELECT fact, value FROM _about WHERE subject = 'report'").raw().all() as [string, string][],
    );
    const rows = db.prepare("SELECT sum(value) FROM _about WHERE fact = 'rows'").pluck().get();
    const told = (fact: string) => facts.get(fact) ?? "";
    return {
      seq: Number(told("seq")),
      lastChange: told("last_change"),
      layout: told("layout"),
      reportDate: told("report_date"),
      rows: Number(rows),
    };
  } catch {
    return null;
  } finally {
    db?.close();
  }
}

export function originOf({ db, seq }: Snapshot, layout: string, reportDate: string): Origin {
  return { seq, lastChange: changeAt(db, seq), layout, reportDate };
}

/** Two mirrors do not have the same change at the same seq and the same millisecond. */
export function changeAt(db: Db, seq: number): string {
  const sql = `SELECT l.resource || ' ' || l.record_id || ' ' || l.op || ' ' || r.at
    FROM _change_log l JOIN _reads r ON r.id = l.read WHERE l.seq = ?`;
  return (db.prepare(sql).pluck().get(seq) as string | undefined) ?? "";
}

export function sameOrigin(a: Origin, b: Origin): boolean {
  return (
    a.seq === b.seq && a.lastChange === b.lastChange && a.layout === b.layout && a.reportDate === b.reportDate
  );
}

/** Writes `_about` of the report: what the snapshot tells, and what was found while it was written. */
export function writeFacts(
  db: Db,
  origin: Origin,
  tables: readonly SnapshotTable[],
  openKeys: ReadonlyMap<string, readonly string[]>,
): void {
  db.exec("DELETE FROM report._about");
  db.exec("INSERT INTO report._about SELECT subject, fact, value FROM temp._about");
  const insert = db.prepare("INSERT INTO report._about VALUES (?, ?, ?)");
  insert.run("report", "layout", origin.layout);
  insert.run("report", "last_change", origin.lastChange);
  for (const { name, kind } of tables) {
    if (kind === "about") continue;
    const count = db
      .prepare(`SELECT count(*) FROM report.${quoted(name)}`)
      .pluck()
      .get() as number;
    insert.run(name, "rows", String(count));
    const open = openKeys.get(name) ?? [];
    if (open.length > 0) insert.run(name, "undeclared_keys", open.join(" "));
  }
}
