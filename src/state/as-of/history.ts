import type { Manifest } from "../../connector/connector-manifest.ts";
import { stampWithoutRead } from "../../store/apply/read-stamp.ts";
import type { Db } from "../../store/database.ts";
import { quoted } from "../../store/sql-text.ts";
import { historyColumns, historyTable } from "../../store/snapshot/snapshot-tables.ts";
import { dataColumns } from "../../store/tables/table-layout.ts";
import type { TablePlan } from "../../store/tables/table-plan.ts";
import { canonicalId } from "../../base/ids.ts";
import { Mirror } from "../mirror.ts";
import { copyForReading, eachPast, putPast, type CopyOptions, type PastRecord } from "./rewind.ts";

/**
 * Copies a mirror to a new file and adds a table with all versions of each table's rows, which a snapshot of the copy shows:
 * what the change log knows, each with its period. The rows of the copy are of no moment then.
 *
 * Guarantee: only the copy is written. Each version is there once; periods of a record do not overlap.
 * Source of truth: the change log. What was removed from it is one version, from the log's beginning on.
 * Worst outcome of a crash: an unfinished copy, which nobody reads.
 *
 * @throws MirrorError `database`, `stopped`
 */
export async function copyWithHistory(
  source: string,
  target: string,
  manifest: Manifest,
  { clock, signal }: CopyOptions,
): Promise<void> {
  const db = await copyForReading(source, target, signal);
  try {
    db.exec("CREATE INDEX _change_log_by_next ON _change_log (next_seq)");
    const mirror = new Mirror(db, manifest, {}, null);
    const begin = "SELECT r.at FROM _change_log l JOIN _reads r ON r.id = l.read ORDER BY l.seq LIMIT 1";
    db.exec(`CREATE TEMP TABLE _begin AS SELECT (${begin}) AS at`);
    for (const { name } of manifest.resources) addPresent(db, mirror.table(name).plan);
    listPast(db);
    const stamp = stampWithoutRead("schema", clock);
    await eachPast(mirror, signal, (table, version, slice) => {
      putPast(table, version, slice, stamp);
      addVersion(db, table.plan, version);
    });
  } finally {
    db.close();
  }
}

/** Tables, the column of each that holds the record's id, and the columns to copy. */
function versionedOf(plan: TablePlan) {
  const data = dataColumns(plan).map(({ name }) => name);
  const children = plan.children.map(({ table, parentKey: key, columns }) => {
    return { table, key, columns: [key, "position", ...columns.map(({ name }) => name)] };
  });
  return [{ table: plan.table, key: "id", columns: ["id", ...data] }, ...children];
}

const own = historyColumns.map(({ name }) => name).join(", ");

/** The versions that hold now. */
function addPresent(db: Db, plan: TablePlan): void {
  for (const { table, key, columns } of versionedOf(plan)) {
    const shown = columns.map((column) => `t.${quoted(column)}`).join(", ");
    const version = `coalesce(l.op, 'insert') AS _op, coalesce(r.at, (SELECT at FROM temp._begin)) AS valid_from, NULL AS valid_to`;
    db.exec(`CREATE TABLE ${quoted(historyTable(table))} AS SELECT ${version}, ${shown} FROM ${quoted(table)} t
      JOIN ${quoted(`_fence_${plan.table}`)} f ON f.id = t.${quoted(key)} AND f.gone = 0
      LEFT JOIN _change_log l ON l.seq = f.last_change LEFT JOIN _reads r ON r.id = l.read`);
  }
}

/** Each change ends the version that it keeps; a deletion is a version of its own, with the last values. */
function listPast(db: Db): void {
  db.exec(`CREATE TEMP TABLE _past AS
    SELECT c.resource, c.record_id AS id, c.seq AS json, m.seq AS made, r.cause AS cause, coalesce(m.op, 'insert') AS op,
      coalesce(r.at, (SELECT at FROM temp._begin)) AS madeAt, e.at AS until
    FROM _change_log c JOIN _reads e ON e.id = c.read
      LEFT JOIN _change_log m ON m.next_seq = c.seq LEFT JOIN _reads r ON r.id = m.read
    WHERE c.op IN ('update', 'delete') AND c.before IS NOT NULL
    UNION ALL
    SELECT c.resource, c.record_id, c.seq, c.seq, NULL, 'delete', r.at, e.at
    FROM _change_log c JOIN _reads r ON r.id = c.read
      LEFT JOIN _change_log n ON n.seq = c.next_seq LEFT JOIN _reads e ON e.id = n.read
    WHERE c.op = 'delete' AND c.before IS NOT NULL`);
}

function addVersion(db: Db, plan: TablePlan, { id, op, madeAt, until }: PastRecord): void {
  for (const { table, key, columns } of versionedOf(plan)) {
    const names = columns.map(quoted).join(", ");
    const sql = `INSERT INTO ${quoted(historyTable(table))} (${own}, ${names})
      SELECT ?, ?, ?, ${names} FROM ${quoted(table)} WHERE ${quoted(key)} = ?`;
    db.prepare(sql).run(op, madeAt, until, canonicalId(id));
  }
}
