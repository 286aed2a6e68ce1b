import { valueOr } from "../base/errors.ts";
import { quoted } from "../store/sql-text.ts";
import type { Snapshot } from "../state/mirror-snapshot.ts";
import { documentFiles } from "../store/snapshot/snapshot-tables.ts";
import { readDatabase, type Db } from "../store/database.ts";
import type { ReportDraft } from "./build-report.ts";
import type { UndeclaredKeys } from "./report-layout.ts";

const originFacts = ["log", "seq", "last_change", "layout", "report_date", "incomplete", "files"] as const;

/**
 * What a report was made from; two reports of equal origin have equal content. `last_change` is the change of `seq`: another
 * mirror with as many changes has a different one. `layout` is a hash, `incomplete` names tables, and `files` is the last
 * line of the manifest of stored files.
 */
export type ReportOrigin = Readonly<Record<(typeof originFacts)[number], string>>;

export type LastReport = NonNullable<ReturnType<typeof readLastReport>>;

/** The facts of an existing report, with the rows of all its tables; null if it cannot be read. */
export function readLastReport(report: string) {
  return valueOr(() => readDatabase(report, readFacts), null);
}

function readFacts(db: Db) {
  const open = db.prepare("SELECT subject, value FROM _about WHERE fact = 'undeclared_keys'").raw().all();
  const rows = db.prepare("SELECT sum(value) FROM _about WHERE fact = 'rows'").pluck().get();
  const keys = (open as [string, string][]).map(([table, names]) => [table, names.split(" ")] as const);
  const undeclared: UndeclaredKeys = new Map(keys);
  return { origin: originIn(db), rows: Number(rows), undeclared };
}

export function originOf({ db, seq }: Snapshot, layout: string): ReportOrigin {
  return originIn(db, { layout, last_change: changeAt(db, seq) });
}

/** By `_about` of a snapshot, which lacks what is `known`, or of a report. */
function originIn(db: Db, known: Partial<ReportOrigin> = {}): ReportOrigin {
  const facts = db.prepare("SELECT fact, value FROM _about WHERE subject = 'report'").raw().all();
  const said = { ...(Object.fromEntries(facts as [string, string][]) as Partial<ReportOrigin>), ...known };
  const head = `SELECT value FROM _about WHERE subject = '${documentFiles.name}' AND fact = 'manifest_head'`;
  const files = (db.prepare(head).pluck().get() as string | undefined) ?? "";
  const origin = { ...said, incomplete: incompleteTables(db).join(" "), files };
  return Object.fromEntries(originFacts.map((fact) => [fact, origin[fact] ?? ""])) as ReportOrigin;
}

/** Tables that are not complete, by `_about` of a snapshot or of a report. */
export function incompleteTables(db: Db): string[] {
  const sql = "SELECT subject FROM _about WHERE fact = 'complete' AND value = 'no' ORDER BY subject";
  return db.prepare(sql).pluck().all() as string[];
}

/** The change of this seq as text; empty if there is none. Unique by its time in milliseconds. */
export function changeAt(db: Db, seq: number): string {
  const sql = `SELECT l.resource || ' ' || l.record_id || ' ' || l.op || ' ' || r.at
    FROM _change_log l JOIN _reads r ON r.id = l.read WHERE l.seq = ?`;
  return (db.prepare(sql).pluck().get(seq) as string | undefined) ?? "";
}

/** Whether a report of `a` need not be replaced by one of `b`. */
export function sameOrigin(a: ReportOrigin, b: ReportOrigin): boolean {
  return originFacts.every((fact) => a[fact] === b[fact]);
}

/** Fills the report's `_about`: the snapshot's facts, the origin, and for each table rows and undeclared keys. */
export function writeFacts({ db, layout }: ReportDraft, origin: ReportOrigin, undeclared: UndeclaredKeys) {
  db.exec("DELETE FROM report._about");
  db.exec("INSERT INTO report._about SELECT subject, fact, value FROM temp._about");
  const insert = db.prepare("INSERT INTO report._about VALUES (?, ?, ?)");
  insert.run("report", "layout", origin.layout);
  insert.run("report", "last_change", origin.last_change);
  for (const { name } of layout.tables.filter(({ kind }) => kind !== "about")) {
    const counting = db.prepare(`SELECT count(*) FROM report.${quoted(name)}`).pluck();
    insert.run(name, "rows", String(counting.get()));
    const keys = undeclared.get(name) ?? [];
    if (keys.length > 0) insert.run(name, "undeclared_keys", keys.join(" "));
  }
}
