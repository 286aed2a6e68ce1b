/** Days as numbers since 1970 (UTC), dates as `YYYY-MM-DD`, and time stamps in the time of Bratislava. */
const dayMs = 86_400_000;

export const dayOf = (date: string) => Math.floor(Date.parse(`${date}T00:00:00Z`) / dayMs);

/** A few thousand dates are needed again and again: one string for each. */
const dates = new Map<number, string>();

export function dateOf(day: number): string {
  const known = dates.get(day);
  if (known !== undefined) return known;
  const date = new Date(day * dayMs).toISOString().slice(0, 10);
  dates.set(day, date);
  return date;
}

export const yearOf = (day: number) => Number(dateOf(day).slice(0, 4));

export const firstDayOfYear = (year: number) => Date.UTC(year, 0, 1) / dayMs;

/** The day number in Bratislava at a moment. */
export const localDay = (epochMs: number) => Math.floor((epochMs + offsetMs(epochMs)) / dayMs);

/** The moment (epoch ms) that lies `minutes` after midnight of a day in Bratislava. */
export function momentOf(day: number, minutes: number): number {
  const asUtc = day * dayMs + minutes * 60_000;
  return asUtc - offsetMs(asUtc);
}

/** `2026-03-03T12:00:00+01:00` */
export const offsetStamp = (epochMs: number) => `${localTime(epochMs)}+0${offsetMs(epochMs) / 3_600_000}:00`;

/** `2026-03-03 12:00:00`, as bank accounts have it. */
export const plainStamp = (epochMs: number) => localTime(epochMs).replace("T", " ");

const localTime = (epochMs: number) => new Date(epochMs + offsetMs(epochMs)).toISOString().slice(0, 19);

/** Start and end of summer time by year, epoch ms. */
const summers = new Map<number, readonly [number, number]>();

/** Summer time of the European Union: last Sundays of March and October, 01:00 UTC. */
function offsetMs(epochMs: number): number {
  const year = yearOf(Math.floor(epochMs / dayMs));
  const summer = summers.get(year) ?? ([lastSunday(year, 2), lastSunday(year, 9)] as const);
  summers.set(year, summer);
  return epochMs >= summer[0] && epochMs < summer[1] ? 7_200_000 : 3_600_000;
}

function lastSunday(year: number, month: number): number {
  const last = new Date(Date.UTC(year, month + 1, 0, 1));
  return last.getTime() - last.getUTCDay() * dayMs;
}
