import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Db } from "../database.ts";
import { assertReadable } from "../migrations/migrate.ts";
import { quoted } from "../sql-text.ts";
import { columnNames } from "../tables/table-layout.ts";
import { redactedColumns, redactTables, type RedactRule } from "./redaction.ts";
import { snapshotTables, type SnapshotTable } from "./snapshot-tables.ts";

/**
 * Creates temporary views of the mirror attached as `schema`: live rows under the tables' plain names, without
 * own columns, the connector's views, and `deleted_records`. Hashes in them need `installRedaction`. Throws MirrorError `database` where there is no
 * mirror that this version can read.
 */
export function createSnapshotViews(
  db: Db,
  schema: string,
  manifest: Manifest,
  redact: readonly RedactRule[],
): SnapshotTable[] {
  assertReadable(db, schema);
  const tables = redactTables(snapshotTables(db, schema, manifest), redact);
  for (const table of tables) {
    if (table.kind === "about") continue;
    db.exec(`CREATE TEMP VIEW ${quoted(table.name)} AS ${selectOf(db, schema, table, tables)}`);
  }
  return tables;
}

function selectOf(db: Db, schema: string, table: SnapshotTable, all: readonly SnapshotTable[]): string {
  if (table.view) return table.view.sql;
  if (table.kind === "files") return storedFiles(liveRows(db, schema, table), table, all);
  if (table.kind !== "deleted") return liveRows(db, schema, table);
  const arms = all.filter(({ kind }) => kind === "table").map(({ name }) => tombstones(db, schema, name));
  return arms.join(" UNION ALL ");
}

/** Columns that this mirror does not have yet, because the connector is newer, are null, as dropped ones are. */
function liveRows(db: Db, schema: string, { name, kind, columns }: SnapshotTable): string {
  const present = columnNames(db, name, schema);
  const shown = columns.map((column) => {
    if (!present.has(column.name.toLowerCase()) || column.redacted === "drop")
      return `NULL AS ${quoted(column.name)}`;
    if (column.redacted === "hash") return `redacted_hash(${quoted(column.name)}) AS ${quoted(column.name)}`;
    const text = column.scalar === "any" && column.type === "TEXT";
    return text ? `CAST(${quoted(column.name)} AS TEXT) AS ${quoted(column.name)}` : quoted(column.name);
  });
  if (present.size === 0) return `SELECT ${shown.join(", ")} WHERE 0`;
  const live = kind === "table" ? " WHERE _deleted_at IS NULL" : "";
  return `SELECT ${shown.join(", ")} FROM ${quoted(schema)}.${quoted(name)}${live}`;
}

/** The name of a file says what its record does: where anything of that is redacted, its content's place stands for it. */
function storedFiles(sql: string, { columns }: SnapshotTable, all: readonly SnapshotTable[]): string {
  const redacted = all.filter((table) => redactedColumns(table).length > 0);
  if (redacted.length === 0) return sql;
  const names = [...new Set(redacted.map(({ name, parent }) => `'${parent ?? name}'`))].join(", ");
  const content = "'objects/' || substr(sha256, 1, 2) || '/' || sha256";
  const shown = columns.map(({ name }) =>
    name === "path" ? `iif(document IN (${names}), ${content}, path) AS path` : quoted(name),
  );
  return `SELECT DISTINCT ${shown.join(", ")} FROM (${sql})`;
}

function tombstones(db: Db, schema: string, name: string): string {
  const head = `SELECT '${name}' AS resource`;
  if (columnNames(db, name, schema).size === 0)
    return `${head}, NULL AS record_id, NULL AS deleted_at WHERE 0`;
  return `${head}, id AS record_id, _deleted_at AS deleted_at FROM ${quoted(schema)}.${quoted(name)} WHERE _deleted_at IS NOT NULL`;
}
