import type { LastKnown, ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import { hasTable, type Db } from "../database.ts";
import { assertReadable } from "../migrations/migrate.ts";
import { quoted } from "../sql-text.ts";
import { columnNames, fenceTable } from "../tables/table-layout.ts";
import { planWithUnknown } from "../tables/unknown-columns.ts";
import { createOverlaidViews, overlaid } from "./overlay.ts";
import { redactedColumns, redactTables, type RedactRule } from "./redaction.ts";
import { historyOf, historyTable, tablesOfReport } from "./snapshot-tables.ts";
import type { SnapshotColumn, SnapshotTable } from "./snapshot-tables.ts";

/**
 * Creates temporary views of the mirror attached as `schema`: live rows under the tables' plain names, without
 * own columns, the connector's views, and `deleted_records`. Hashes in them need `installRedaction`. Throws MirrorError `database` where there is no
 * mirror that this version can read.
 */
export function createSnapshotViews(
  db: Db,
  schema: string,
  declaration: ConnectorDeclaration,
  redact: readonly RedactRule[],
): SnapshotTable[] {
  assertReadable(db, schema);
  const present = redactTables(
    tablesOfReport(declaration, (resource) => planWithUnknown(db, resource)),
    redact,
  );
  const tables = present.flatMap((table) =>
    hasTable(db, historyTable(table.name)) ? [table, historyOf(table)] : [table],
  );
  const mirror = attachedAs(db, schema, createOverlaidViews(db, schema, declaration));
  for (const table of tables) {
    if (table.kind === "about") continue;
    const sql =
      table.kind === "deleted"
        ? tombstones(mirror, table, tables, declaration.lastKnown)
        : selectOf(mirror, table, tables);
    db.exec(`CREATE TEMP VIEW ${quoted(table.name)} AS ${sql}`);
  }
  return tables;
}

type Attached = ReturnType<typeof attachedAs>;

/** A mirror by the name it is attached as, with its overlaid tables. */
function attachedAs(db: Db, schema: string, overlays: ReadonlySet<string>) {
  const known = new Map<string, ReadonlySet<string>>();
  const place = (table: string) => (overlays.has(table) ? ["temp", overlaid(table)] : [schema, table]);
  const columnsOf = (table: string): ReadonlySet<string> => {
    const names = known.get(table) ?? columnNames(db, table, schema);
    known.set(table, names);
    return names;
  };
  return { from: (table: string) => place(table).map(quoted).join("."), columnsOf };
}

function selectOf(mirror: Attached, table: SnapshotTable, all: readonly SnapshotTable[]): string {
  if (table.view) return table.view.sql;
  if (table.kind === "files") return storedFiles(liveRows(mirror, table), table, all);
  return liveRows(mirror, table);
}

function liveRows({ from, columnsOf }: Attached, { name: shownAs, kind, columns, parent }: SnapshotTable) {
  const name = kind === "history" ? historyTable(parent ?? "") : shownAs;
  const present = columnsOf(name);
  const shown = columns.map((column) => `${cellSql(column, present)} AS ${quoted(column.name)}`);
  if (present.size === 0) return `SELECT ${shown.join(", ")} WHERE 0`;
  const live = kind === "table" ? " WHERE _deleted_at IS NULL" : "";
  return `SELECT ${shown.join(", ")} FROM ${from(name)}${live}`;
}

/** A column that this mirror does not have yet, because the connector is newer, is null, as a dropped one is. */
function cellSql({ name, redacted, scalar, type }: SnapshotColumn, present: ReadonlySet<string>): string {
  if (!present.has(name.toLowerCase()) || redacted === "drop") return "NULL";
  if (redacted === "hash") return `redacted_hash(${quoted(name)})`;
  return scalar === "any" && type === "TEXT" ? `CAST(${quoted(name)} AS TEXT)` : quoted(name);
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

/** All tombstones, each with what the connector wants to be known of its record, redacted as in the record's table. */
function tombstones(
  mirror: Attached,
  deleted: SnapshotTable,
  all: readonly SnapshotTable[],
  lastKnown: Partial<LastKnown> = {},
): string {
  const cellOf = (of: SnapshotTable, column: SnapshotColumn) => cellSql(column, mirror.columnsOf(of.name));
  /** What the first of the columns that the table has leads to; null where that has another type, as a hash has. */
  const known = (table: SnapshotTable, { name, type }: SnapshotColumn): string => {
    const paths = (lastKnown[name as keyof LastKnown] ?? []).map((path) => path.split("."));
    const [own, further] = paths.find((path) => columnNamed(table, path[0])) ?? [];
    const reference = columnNamed(table, own);
    const owner = further === undefined ? table : all.find((one) => one.name === reference?.references);
    const column = columnNamed(owner, further ?? own);
    if (!reference || !owner || !column || cellOf(table, reference) === "NULL") return "NULL";
    const cell = cellOf(owner, column);
    if (cell === "NULL" || (type !== "TEXT" && column.type !== type)) return "NULL";
    const sql =
      further === undefined
        ? cell
        : `(SELECT ${cell} FROM ${mirror.from(owner.name)} o WHERE o.id = d.${quoted(reference.name)})`;
    return type === "TEXT" ? `CAST(${sql} AS TEXT)` : sql;
  };
  const isThere = ({ kind, name }: SnapshotTable) => kind === "table" && mirror.columnsOf(name).size > 0;
  const arms = all.filter(isThere).map((table) => {
    const cells: Readonly<Record<string, string>> = {
      resource: `'${table.name}'`,
      id: "d.id",
      deleted_at: "d._deleted_at",
      cause: `(SELECT r.cause FROM ${quoted(fenceTable(table.name))} f
        JOIN _change_log l ON l.seq = f.last_change AND l.op = 'delete'
        JOIN _reads r ON r.id = l.read WHERE f.id = d.id)`,
    };
    const shown = deleted.columns.map(
      (column) => `${cells[column.name] ?? known(table, column)} AS ${quoted(column.name)}`,
    );
    return `SELECT ${shown.join(", ")} FROM ${mirror.from(table.name)} d WHERE d._deleted_at IS NOT NULL`;
  });
  return [liveRows(mirror, deleted), ...arms].join(" UNION ALL ");
}

function columnNamed(table: SnapshotTable | undefined, name: string | undefined): SnapshotColumn | undefined {
  return table?.columns.find((column) => column.name === name);
}
