import { MirrorError } from "../../base/errors.ts";
import { snakeCase } from "../../base/names.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { SnapshotTable } from "../../store/snapshot/snapshot-tables.ts";
import { quoted } from "../../store/sql-text.ts";

/** Days that an export is limited to, both included: `2026-10-01`; null: without an end on that side. */
export interface Period {
  readonly from: string | null;
  readonly to: string | null;
}

/** First and last day of a month. */
export type MonthPeriod = Readonly<Record<"from" | "to", string>>;

/** The days of a month such as `2026-10`. */
export function periodOfMonth(month: string): MonthPeriod {
  return { from: `${month}-01`, to: lastDayOf(month) };
}

export function monthBefore(day: string): string {
  const [year = 0, month = 0] = day.split("-").map(Number);
  return new Date(Date.UTC(year, month - 2, 1)).toISOString().slice(0, 7);
}

/** Throws MirrorError `usage` for a month of which there is no package, or no proof, on this day. */
export function assertPackable(
  command: string,
  month: string | undefined,
  proved: boolean,
  today: string,
): asserts month is string {
  if (month === undefined)
    throw new MirrorError("usage", `${command} needs --month, such as --month 2026-10`);
  assertBegun(month, today);
  if (proved && month === today.slice(0, 7))
    throw new MirrorError("usage", `--month ${month} has not ended yet: it cannot be proved on ${today}`);
}

export function assertBegun(month: string, today: string): void {
  if (month > today.slice(0, 7))
    throw new MirrorError("usage", `--month ${month} has not begun yet: today is ${today}`, {
      hint: "Give a month that is over, or the current one for what there is so far.",
    });
}

/** The last day of a month such as `2026-10`. */
function lastDayOf(month: string): string {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}

/** The days of a table's rows, by its date; for a child table that of its parent. */
export interface DatedPeriod extends Period {
  readonly column: string;
}

/**
 * How a period limits a table or view, by its own date or, for a child table, its parent's. Null: it has no date, and
 * is exported whole.
 *
 * @throws MirrorError `usage`: a view without a date, which shows the state of one day, or a view by months and a period
 *   that cuts one
 */
export function periodLimit(
  declaration: ConnectorDeclaration,
  tables: readonly SnapshotTable[],
  table: SnapshotTable,
  { from, to }: Period,
) {
  const dated = tables.find(({ name }) => name === table.parent) ?? table;
  const column = documentDate(declaration, dated);
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

/**
 * The column that a table is partitioned and limited by: its first date that is never null (`issue_date`,
 * `payment_date`), of a view the date or month that the connector declares. Null: it has none.
 */
export function documentDate(declaration: ConnectorDeclaration, table: SnapshotTable): string | null {
  if (table.kind === "view") return table.view?.date ?? null;
  const resource = declaration.resources.find(({ name }) => name === table.name);
  const fields = Object.entries(resource?.fields ?? {});
  const found = fields.find(
    ([, field]) => field.shape === "scalar" && field.type === "date" && !field.nullable,
  );
  return found ? snakeCase(found[0]) : null;
}
