import { MirrorError } from "../../base/errors.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { SnapshotTable } from "../../store/snapshot/snapshot-tables.ts";
import { quoted } from "../../store/sql-text.ts";
import { documentDate } from "./table-choice.ts";
import { lastDayOf, type DatedPeriod, type Period } from "./period.ts";

/** How a period limits the rows of a table. */
export interface PeriodLimit {
  readonly period: DatedPeriod;
  readonly sql: string;
}

/**
 * How a period limits a table or view, by its own date or, for a child table, its parent's. Null: it has no date, and
 * is exported whole.
 *
 * @throws MirrorError `usage`: a view without a date, which shows the state of one day, or a view by months and a period
 *   that cuts one
 */
export function periodLimit(
  manifest: Manifest,
  tables: readonly SnapshotTable[],
  table: SnapshotTable,
  { from, to }: Period,
): PeriodLimit | null {
  const dated = tables.find(({ name }) => name === table.parent) ?? table;
  const column = documentDate(manifest, dated);
  if (column === null) {
    if (table.kind === "view")
      throw new MirrorError("usage", `${table.name} has no date: it shows one day's state`, {
        hint: "Leave out --month, --from and --to, or name other tables.",
      });
    return null;
  }
  const isMonth = dated.columns.find(({ name }) => name === column)?.type === "TEXT";
  if (isMonth) assertWholeMonths(table.name, from, to);
  const bound = (day: string) => `'${isMonth ? day.slice(0, 7) : day}'`;
  const sides = [
    ...(from === null ? [] : [`${quoted(column)} >= ${bound(from)}`]),
    ...(to === null ? [] : [`${quoted(column)} <= ${bound(to)}`]),
  ];
  const own = sides.join(" AND ");
  const [parentKey = ""] = table.primaryKey;
  const sql =
    dated === table ? own : `${quoted(parentKey)} IN (SELECT id FROM ${quoted(dated.name)} WHERE ${own})`;
  return { period: { column, from, to }, sql };
}

function assertWholeMonths(view: string, from: string | null, to: string | null): void {
  if ((from === null || from.endsWith("-01")) && (to === null || to === lastDayOf(to.slice(0, 7)))) return;
  throw new MirrorError("usage", `${view} has one row for each month: the period must be whole months`, {
    hint: "Give --month, or a first and a last day of months.",
  });
}
