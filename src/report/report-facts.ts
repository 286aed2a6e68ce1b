import { quoted } from "../store/sql-text.ts";
import type { Snapshot } from "../state/mirror-snapshot.ts";
import { documentFiles } from "../store/snapshot/snapshot-tables.ts";
import type { Db } from "../store/database.ts";
import { readReport } from "./open-report.ts";
import type { ReportDraft } from "./publish-draft.ts";
import type { UndeclaredKeys } from "./report-layout.ts";

/** What a report was made from; two reports of equal origin have equal content. */
export interface Origin {
  /** The identity of the change log. */
  readonly log: string;
  readonly seq: number;
  /** The change of that seq. Another mirror with as many changes has a different one. */
  readonly lastChange: string;
  /** The layout's hash. */
  readonly layout: string;
  readonly reportDate: string;
  /** Names of the tables that are not complete. */
  readonly incomplete: string;
  /** The last line of the manifest of stored files; empty without files. */
  readonly files: string;
}

/** What the last report says of itself. */
export interface LastReport extends Origin {
  /** Of all its tables. */
  readonly rows: number;
  readonly undeclared: UndeclaredKeys;
}

/** The facts of an existing report; null if it cannot be read. */
export function readLastReport(report: string): LastReport | null {
  try {
    return readReport(report, lastReportOf);
  } catch {
    return null;
  }
}

function lastReportOf(db: Db): LastReport {
  const facts = new Map(
    db.prepare("SELECT fact, value FROM _about WHERE subject = 'report'").raw().all() as [string, string][],
  );
  const open = db.prepare("SELECT subject, value FROM _about WHERE fact = 'undeclared_keys'").raw().all();
  const rows = db.prepare("SELECT sum(value) FROM _about WHERE fact = 'rows'").pluck().get();
  return {
    log: facts.get("log") ?? "",
    seq: Number(facts.get("seq") ?? ""),
    lastChange: facts.get("last_change") ?? "",
    layout: facts.get("layout") ?? "",
    reportDate: facts.get("report_date") ?? "",
    incomplete: incompleteTables(db).join(" "),
    files: filesHead(db),
    rows: Number(rows),
    undeclared: new Map((open as [string, string][]).map(([table, keys]) => [table, keys.split(" ")])),
  };
}

/** The origin of a report made from this snapshot. */
export function originOf({ db, log, seq }: Snapshot, layout: string, reportDate: string): Origin {
  return {
    log,
    seq,
    lastChange: changeAt(db, seq),
    layout,
    reportDate,
    incomplete: incompleteTables(db).join(" "),
    files: filesHead(db),
  };
}

/** Tables that are not complete, by `_about` of a snapshot or of a report. */
export function incompleteTables(db: Db): string[] {
  const sql = "SELECT subject FROM _about WHERE fact = 'complete' AND value = 'no' ORDER BY subject";
  return db.prepare(sql).pluck().all() as string[];
}

/** By `_about` likewise. */
function filesHead(db: Db): string {
  const sql = `SELECT value FROM _about WHERE subject = '${documentFiles.name}' AND fact = 'manifest_head'`;
  return (db.prepare(sql).pluck().get() as string | undefined) ?? "";
}

/** The change of this seq as text; empty if there is none. Unique by its time in milliseconds. */
export function changeAt(db: Db, seq: number): string {
  const sql = `SELECT l.resource || ' ' || l.record_id || ' ' || l.op || ' ' || r.at
    FROM _change_log l JOIN _reads r ON r.id = l.read WHERE l.seq = ?`;
  return (db.prepare(sql).pluck().get(seq) as string | undefined) ?? "";
}

/** Whether a report of `a` need not be replaced by one of `b`. */
export function sameOrigin(a: Origin, b: Origin): boolean {
  const facts = ["log", "seq", "lastChange", "layout", "reportDate", "incomplete", "files"] as const;
  return facts.every((fact) => a[fact] === b[fact]);
}

/** Fills the report's `_about`: the snapshot's facts, the origin, and for each table rows and undeclared keys. */
export function writeFacts({ db, layout }: ReportDraft, origin: Origin, undeclared: UndeclaredKeys): void {
  db.exec("DELETE FROM report._about");
  db.exec("INSERT INTO report._about SELECT subject, fact, value FROM temp._about");
  const insert = db.prepare("INSERT INTO report._about VALUES (?, ?, ?)");
  insert.run("report", "layout", origin.layout);
  insert.run("report", "last_change", origin.lastChange);
  for (const { name } of layout.tables.filter(({ kind }) => kind !== "about")) {
    const rows = db
      .prepare(`SELECT count(*) FROM report.${quoted(name)}`)
      .pluck()
      .get();
    insert.run(name, "rows", String(rows));
    const keys = undeclared.get(name) ?? [];
    if (keys.length > 0) insert.run(name, "undeclared_keys", keys.join(" "));
  }
}
