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

/** The month before that of a day. */
export function monthBefore(day: string): string {
  const [year = 0, month = 0] = day.split("-").map(Number);
  return new Date(Date.UTC(year, month - 2, 1)).toISOString().slice(0, 7);
}

/** The last day of a month such as `2026-10`. */
export function lastDayOf(month: string): string {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
}

/** The days of a table's rows, by its date; for a child table that of its parent. */
export interface DatedPeriod extends Period {
  readonly column: string;
}
