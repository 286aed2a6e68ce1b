import type { Manifest } from "../../connector/connector-manifest.ts";
import { stampWithoutRead } from "../../store/apply/read-stamp.ts";
import type { Db } from "../../store/database.ts";
import { quoted } from "../../store/sql-text.ts";
import { overlayTable } from "../../store/snapshot/overlay.ts";
import { historyColumns, historyTable } from "../../store/snapshot/snapshot-tables.ts";
import { columnNames, dataColumns } from "../../store/tables/table-layout.ts";
import type { TablePlan } from "../../store/tables/table-plan.ts";
import { canonicalId } from "../../base/ids.ts";
import { eachPast, listNext, putPast, writeOverlay, type OverlayOptions, type PastRecord } from "./rewind.ts";

/**
 * Makes an overlay that shows a mirror as it is, with a table of all versions of each table's rows: what the change log
 * knows, each with its period.
 *
 * Guarantee: only the overlay is written. Each version is there once; periods of a record do not overlap.
 * Source of truth: the change log. What was removed from it is one version, from the log's beginning on.
 * Worst outcome of a crash: an unfinished overlay, which nobody reads.
 *
 * @throws MirrorError `database`, `stopped`
 */
export async function overlayWithHistory(
  live: string,
  overlay: string,
  manifest: Manifest,
  { clock, signal }: OverlayOptions,
): Promise<void> {
  await writeOverlay(live, overlay, manifest, null, async (mirror) => {
    const { db } = mirror;
    // As of the commit that this transaction reads.
    db.exec(`UPDATE main.${overlayTable} SET seq = (SELECT coalesce(max(seq), 0) FROM live._change_log)`);
    const begin =
      "SELECT r.at FROM live._change_log l JOIN live._reads r ON r.id = l.read ORDER BY l.seq LIMIT 1";
    db.exec(`CREATE TEMP TABLE _begin AS SELECT (${begin}) AS at`);
    for (const { name } of manifest.resources) addPresent(db, mirror.table(name).plan);
    listPast(db);
    const stamp = stampWithoutRead("schema", clock);
    // The overlay's own row of a record is each of its versions in turn.
    await eachPast(mirror, signal, (table, version, slice) => {
      putPast(table, version, slice, stamp);
      addVersion(db, table.plan, version);
    });
  });
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
    const there = columnNames(db, table, "live");
    const schema = there.size > 0 ? "live" : "main";
    const shown = columns.map((column) =>
      schema === "main" || there.has(column.toLowerCase())
        ? `t.${quoted(column)}`
        : `NULL AS ${quoted(column)}`,
    );
    const version = `coalesce(l.op, 'insert') AS _op, coalesce(r.at, (SELECT at FROM temp._begin)) AS valid_from, NULL AS valid_to`;
    db.exec(`CREATE TABLE main.${quoted(historyTable(table))} AS SELECT ${version}, ${shown.join(", ")}
      FROM ${schema}.${quoted(table)} t
      JOIN ${schema}.${quoted(`_fence_${plan.table}`)} f ON f.id = t.${quoted(key)} AND f.gone = 0
      LEFT JOIN live._change_log l ON l.seq = f.last_change LEFT JOIN live._reads r ON r.id = l.read`);
  }
}

/** Each change ends the version that it keeps; a deletion is a version of its own, with the last values. */
function listPast(db: Db): void {
  listNext(db, 0);
  db.exec(`CREATE TEMP TABLE _past AS
    SELECT c.resource, c.record_id AS id, c.seq AS json, m.seq AS made, r.cause AS cause, coalesce(m.op, 'insert') AS op,
      coalesce(r.at, (SELECT at FROM temp._begin)) AS madeAt, e.at AS until
    FROM live._change_log c JOIN live._reads e ON e.id = c.read
      LEFT JOIN temp._next p ON p.seq = c.seq LEFT JOIN live._change_log m ON m.seq = p.made
      LEFT JOIN live._reads r ON r.id = m.read
    WHERE c.op IN ('update', 'delete') AND c.before IS NOT NULL
    UNION ALL
    SELECT c.resource, c.record_id, c.seq, c.seq, NULL, 'delete', r.at, e.at
    FROM live._change_log c JOIN live._reads r ON r.id = c.read
      LEFT JOIN live._change_log n ON n.seq = c.next_seq LEFT JOIN live._reads e ON e.id = n.read
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
