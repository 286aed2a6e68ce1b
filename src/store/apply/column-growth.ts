import { isoTime } from "../../base/clock.ts";
import { canonicalId } from "../../base/ids.ts";
import type { Db } from "../database.ts";
import { quoted } from "../sql-text.ts";
import type { UnknownKey } from "../tables/row-decoder.ts";
import type { Column } from "../tables/table-plan.ts";
import { rawTable } from "../tables/table-statements.ts";
import { addUnknownColumns, type NewColumn } from "../tables/unknown-columns.ts";
import type { ReadStamp } from "./read-stamp.ts";
import type { ResourceTable } from "./resource-table.ts";

/** Adds columns for unknown fields, in the transaction that brought them, and fills them for older rows too. */
export function growTable(
  db: Db,
  table: ResourceTable,
  unknown: readonly UnknownKey[],
  stamp: ReadStamp,
): NewColumn[] {
  const added = addUnknownColumns(db, table.plan, unknown, isoTime(stamp.receivedAtMs));
  if (added.length === 0) return added;
  table.prepareAgain();
  refillRows(db, table, new Set(added.map(({ column }) => column)), { ...stamp, cause: "schema" });
  return added;
}

/** Fills columns that were added from the JSON of the rows that are older than the columns. */
export function refillRows(db: Db, table: ResourceTable, added: ReadonlySet<Column>, stamp: ReadStamp): void {
  const raw = quoted(rawTable(table.resource.name));
  const having = db.prepare(`SELECT id FROM ${raw} WHERE instr(json, ?) > 0`).pluck().safeIntegers(true);
  const keys = [...added].flatMap((column) => column.paths.map((path) => path.at(-1) ?? ""));
  // A key of other letters may be escaped in more than one way: then every record is a candidate.
  const texts = keys.map((key) => (/^[A-Za-z0-9_]+$/.test(key) ? JSON.stringify(key) : '"'));
  const ids = [...new Set(texts)].flatMap((text) => having.all(text) as bigint[]);
  for (const id of new Set(ids)) table.refill(stamp, canonicalId(id), added);
}
