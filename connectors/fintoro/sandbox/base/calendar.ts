/** Days as numbers since 1970 (UTC), dates as `YYYY-MM-DD`, and time stamps in the time of Bratislava. */
const dayMs = 86_400_000;

export const dayOf = (date: string) => Math.floor(Date.parse(`${date}T00:00:00Z`) / dayMs);

export const dateOf = (day: number) => new Date(day * dayMs).toISOString().slice(0, 10);

export const yearOf = (day: number) => new Date(day * dayMs).getUTCFullYear();

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

/** Summer time of the European Union: last Sundays of March and October, 01:00 UTC. */
function offsetMs(epochMs: number): number {
  const year = yearOf(Math.floor(epochMs / dayMs));
  const isSummer = epochMs >= lastSunday(year, 2) && epochMs < lastSunday(year, 9);
  return isSummer ? 7_200_000 : 3_600_000;
}

function lastSunday(year: number, month: number): number {
  const last = new Date(Date.UTC(year, month + 1, 0, 1));
  return last.getTime() - last.getUTCDay() * dayMs;
}
