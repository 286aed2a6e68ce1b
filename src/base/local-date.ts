/** The calendar's day in that time zone: `2026-11-22`. */
export function localDate(epochMs: number, timeZone: string): string {
  const parts = new Intl.DateTimeFormat("en", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" })
    .formatToParts(epochMs)
    .map(({ type, value }) => [type, value] as const);
  const { year = "", month = "", day = "" } = Object.fromEntries(parts) as Record<string, string>;
  return `${year.padStart(4, "0")}-${month}-${day}`;
}
