import { quoted } from "../../store/sql-text.ts";
import type { SnapshotTable } from "../../store/snapshot/snapshot-tables.ts";

/**
 * The rows of `--since`, in the order of the records' last changes. A record that is gone is one row with its
 * id; a child table's rows come as the set they are: one `delete` without a position for all that their parent
 * had, then every row that it has now. Applying them in order to what was there gives what is there now.
 */
export function changesSql(table: SnapshotTable, since: number, isRaw: boolean): string {
  if (table.kind === "child") return childChanges(table, since);
  const { name, columns } = table;
  const isGone = "t.id IS NULL";
  const op = `CASE WHEN ${isGone} THEN 'delete' ELSE 'upsert' END AS _op, c.seq AS _seq, 0 AS _place`;
  const changed = `${changedRecords(name, since)} c LEFT JOIN ${quoted(name)} t ON t.id = c.id`;
  if (isRaw) {
    const json = `CASE WHEN ${isGone} THEN '{"id":' || c.id || '}' ELSE w.json END AS json`;
    return `SELECT ${op}, ${json} FROM ${changed} LEFT JOIN main.${quoted(`_raw_${name}`)} w ON w.id = c.id`;
  }
  const shown = columns.map((column) =>
    column.name === "id" ? "c.id AS id" : `t.${quoted(column.name)} AS ${quoted(column.name)}`,
  );
  return `SELECT ${op}, ${shown.join(", ")} FROM ${changed}`;
}

function childChanges({ name, columns, primaryKey, parent }: SnapshotTable, since: number): string {
  const [key = ""] = primaryKey;
  const names = columns.map((column) => quoted(column.name));
  const nothing = names.map((column) => (column === quoted(key) ? `c.id AS ${column}` : `NULL AS ${column}`));
  const changed = changedRecords(parent ?? "", since);
  return `SELECT 'delete' AS _op, c.seq AS _seq, -1 AS _place, ${nothing.join(", ")} FROM ${changed} c
    UNION ALL SELECT 'upsert', c.seq, k.position, ${names.map((column) => `k.${column}`).join(", ")}
    FROM ${changed} c JOIN ${quoted(name)} k ON k.${quoted(key)} = c.id`;
}

/** The records that changed, each with its last change. */
function changedRecords(resource: string, since: number): string {
  return `(SELECT record_id AS id, max(seq) AS seq FROM main._change_log
    WHERE seq > ${since} AND resource = '${resource}' GROUP BY record_id)`;
}
