import { MirrorError } from "../../base/errors.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { Resource } from "../../connector/resource.ts";
import { hasTable, type Db } from "../database.ts";
import { quoted } from "../sql-text.ts";
import { columnNames, fenceTable, rawTable } from "../tables/table-layout.ts";
import { knownPlan } from "../tables/table-plan.ts";

/**
 * An overlay has the tables of a mirror, with those records only that it shows otherwise than the live mirror below it. This
 * table of one row makes a database one: the live mirror's file, the last change that the overlay shows, and the last one that
 * it knows; null: it is of no moment.
 */
export const overlayTable = "_overlay";

/** The records that an overlay shows otherwise or not: the change that keeps their JSON of then, and the one that made it. */
export const changedTable = (resource: string) => `_changed_${resource}`;

/** What a table of rows, as the overlay and the live mirror have it together, is called. */
export const overlaid = (table: string) => `_overlaid_${table}`;

/** The live mirror has changed since the overlay was made: bring it up to date, and open it again. */
export class OverlayOutdated extends MirrorError {}

export function attachLive(db: Db, file: string): void {
  db.prepare("ATTACH ? AS live").run(file);
  db.pragma("live.synchronous = FULL");
}

/** Is the database attached as `schema` an overlay, and no mirror? */
export function isOverlay(db: Db, schema: string): boolean {
  return hasTable(db, overlayTable, schema);
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
export function createOverlaidViews(
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
  if (!hasTable(db, changedTable(table), schema)) return [];
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
  const json = `SELECT c.id, l.before AS json FROM ${changed} c JOIN live._change_log l ON l.seq = c.json`;
  create(raw, raw, "id", ["id", "json"], json);
  const facts =
    "iif(t._detail_at IS NULL, 'preview', 'detail') AS source, c.made AS last_change, t._deleted_at IS NOT NULL AS gone";
  const read = `SELECT c.id, ${facts} FROM ${changed} c JOIN ${from(table)} t ON t.id = c.id`;
  create(fence, fence, "id", ["id", "source", "last_change", "gone"], read);
  return rows.map(({ table: name }) => name);
}
