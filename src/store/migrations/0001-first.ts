import { sql } from "kysely";
import type { Column } from "../own-tables/column-kinds.ts";
import { firstTables } from "../own-tables/mirror-tables.ts";
import { builder } from "../own-tables/statement.ts";

const { schema } = builder;

/**
 * The mirror's own tables. Resource tables are not here: they follow the connector's fields
 * (store/tables), so that a new field needs no migration.
 */
export const first = [
  ...Object.entries(firstTables).map(([name, columns]) => createTable(name, columns)),
  // In the order of leases: without the rank every lease would sort the whole lane. Rechecks wait in the webhook lane
  // until they are due: they must cost nothing until then.
  schema.createIndex("_work_next").on("_work").columns(["state", "lane", "due_ms", "rank", "id"]),
  schema.createIndex("_work_target").on("_work").columns(["resource", "target"]).unique(),
  // Details are read in turn over the resources.
  schema
    .createIndex("_work_turns")
    .on("_work")
    .columns(["lane", "resource", "rank", "id"])
    .where(sql.ref("state"), "=", "ready"),
  // By arrival: events are added at its end. An index by (resource, target) would write a page per event.
  schema
    .createIndex("_inbox_waiting")
    .on("_inbox")
    .columns(["dirty_seq", "resource", "target"])
    .where(sql.ref("state"), "=", "waiting"),
  schema.createIndex("document_files_by_document").on("document_files").columns(["document", "document_id"]),
].map((made) => made.compile().sql);

function createTable(name: string, columns: Readonly<Record<string, Column<unknown>>>) {
  const keys = Object.keys(columns).filter((column) => columns[column]?.isKey);
  let table = schema.createTable(name);
  for (const [column, { type, define }] of Object.entries(columns))
    table = table.addColumn(column, type, define);
  if (keys.length === 0) return table.modifyEnd(sql`strict`);
  return table.addPrimaryKeyConstraint(`${name}_key`, keys as never[]).modifyEnd(sql`strict, without rowid`);
}
