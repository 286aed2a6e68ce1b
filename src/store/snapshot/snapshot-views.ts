import type { LastKnown, ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import { hasTable, type Db } from "../database.ts";
import { assertReadable } from "../migrations/migrate.ts";
import { quoted } from "../sql-text.ts";
import { columnNames, fenceTable, rawTable } from "../tables/table-layout.ts";
import { planWithUnknown } from "../tables/unknown-columns.ts";
import { redactedColumns, redactTables, type RedactRule } from "./redaction.ts";
import { historyOf, historyTable, tablesOfReport } from "./snapshot-tables.ts";
import type { SnapshotColumn, SnapshotTable } from "./snapshot-tables.ts";
import { MirrorError } from "../../base/errors.ts";
import type { Resource } from "../../connector/resource.ts";
import { knownPlan } from "../tables/table-plan.ts";

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
  /** The names of a table's columns, read once. */
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

/**
 * An overlay has the tables of a mirror, with those records only that it shows otherwise than the live mirror below it. This
 * table of one row makes a database one: the live mirror's file, the last change that the overlay shows, and the last one that
 * it knows; null: it is of no moment.
 */
export const overlayTable = "_overlay";

/** The records that an overlay shows otherwise or not: the change that keeps their JSON of then, and the one that made it. */
export const changedTable = (resource: string) => `_changed_${resource}`;

/** What a table of rows, as the overlay and the live mirror have it together, is called. */
const overlaid = (table: string) => `_overlaid_${table}`;

/** The live mirror has changed since the overlay was made: bring it up to date, and open it again. */
export class OverlayOutdated extends MirrorError {}

export function attachLive(db: Db, file: string): void {
  db.prepare("ATTACH ? AS live").run(file);
  db.pragma("live.synchronous = FULL");
}

/** Is the database attached as `schema` an overlay, and no mirror? */
export function isOverlay(db: Db, schema: string): boolean {
  return columnNames(db, overlayTable, schema).size > 0;
}

/** Attaches the live mirror below the overlay attached as `schema`; none where that is a mirror. Call before the first read. */
export function attachBelow(db: Db, schema: string): void {
  if (!isOverlay(db, schema)) return;
  attachLive(db, db.prepare(`SELECT mirror FROM ${schema}.${overlayTable}`).pluck().get() as string);
}

/**
 * Creates a temporary view for each table of the overlay attached as `schema`: the live mirror's rows, but the overlay's of
 * changed records. Returns the tables of rows, whose views are `overlaid`; none where a mirror is attached.
 *
 * @throws OverlayOutdated
 */
function createOverlaidViews(
  db: Db,
  schema: string,
  { resources }: ConnectorDeclaration,
): ReadonlySet<string> {
  if (!isOverlay(db, schema)) return new Set();
  const facts = db.prepare(`SELECT seq, coalesce(known, last) = last AS isKnown
    FROM ${schema}.${overlayTable}, (SELECT coalesce(max(seq), 0) AS last FROM live._change_log)`);
  const { seq, isKnown } = facts.get() as { seq: number; isKnown: number };
  if (!isKnown) {
    const hint = "Run it again, or after the sync that is writing.";
    throw new OverlayOutdated("database", "the mirror changes too fast", { retryable: true, hint });
  }
  db.exec(`CREATE TEMP VIEW _reads AS SELECT * FROM live._reads;
    CREATE TEMP VIEW _change_log AS SELECT * FROM live._change_log WHERE seq <= ${seq}`);
  return new Set(resources.flatMap((resource) => createViewsOf(db, schema, resource)));
}

function createViewsOf(db: Db, schema: string, resource: Resource): string[] {
  const { table, children } = knownPlan(resource);
  // Whoever made the overlay does not know the resource: there are no rows of it.
  if (columnNames(db, changedTable(table), schema).size === 0) return [];
  const from = (name: string) => `${quoted(schema)}.${quoted(name)}`;
  const changed = from(changedTable(table));
  const isChanged = db.prepare(`SELECT 1 FROM ${changed} LIMIT 1`).get() !== undefined;
  /** `own`: the overlay's rows. */
  const create = (view: string, name: string, key: string, columns: readonly string[], own: string) => {
    const there = columnNames(db, name, "live");
    const cells = columns.map((cell) => `${there.has(cell) ? quoted(cell) : "NULL"} AS ${quoted(cell)}`);
    const live = `SELECT ${cells.join(", ")} FROM live.${quoted(name)}`;
    const both = `${live} WHERE ${quoted(key)} NOT IN (SELECT id FROM ${changed}) UNION ALL ${own}`;
    db.exec(`CREATE TEMP VIEW ${quoted(view)} AS ${there.size === 0 ? own : isChanged ? both : live}`);
  };
  const rows = [{ table, parentKey: "id" }, ...children];
  for (const { table: name, parentKey } of rows) {
    const columns = [...columnNames(db, name, schema)];
    const own = `SELECT ${columns.map(quoted).join(", ")} FROM ${from(name)}`;
    create(overlaid(name), name, parentKey, columns, own);
  }
  const [raw, fence] = [rawTable(table), fenceTable(table)];
  const json = `SELECT c.id, l.before FROM ${changed} c JOIN live._change_log l ON l.seq = c.json`;
  create(raw, raw, "id", ["id", "json"], json);
  const facts = "iif(t._detail_at IS NULL, 'preview', 'detail'), c.made, t._deleted_at IS NOT NULL";
  const read = `SELECT c.id, ${facts} FROM ${changed} c JOIN ${from(table)} t ON t.id = c.id`;
  create(fence, fence, "id", ["id", "source", "last_change", "gone"], read);
  return rows.map(({ table: name }) => name);
}
