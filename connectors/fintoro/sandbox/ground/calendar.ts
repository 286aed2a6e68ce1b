/** Days as numbers since 1970 (UTC), dates as `YYYY-MM-DD`, and stamps in the time of Bratislava. */
const dayMs = 86_400_000;

export function dayOf(date: string): number {
  return Math.floor(Date.parse(`${date}T00:00:00Z`) / dayMs);
}

export function dateOf(day: number): string {
  return new Date(day * dayMs).toISOString().slice(0, 10);
}

export function yearOf(day: number): number {
  return new Date(day * dayMs).getUTCFullYear();
}

export function firstDayOfYear(year: number): number {
  return Date.UTC(year, 0, 1) / dayMs;
}

/** The day it is in Bratislava at a moment. */
export function localDay(epochMs: number): number {
  return Math.floor((epochMs + offsetMs(epochMs)) / dayMs);
}

/** A moment of a day there: `minutes` after its midnight. */
export function momentOf(day: number, minutes: number): number {
  const asUtc = day * dayMs + minutes * 60_000;
  return asUtc - offsetMs(asUtc);
}

/** `2026-03-03T12:00:00+01:00` */
export function offsetStamp(epochMs: number): string {
  const offset = offsetMs(epochMs);
  return `${new Date(epochMs + offset).toISOString().slice(0, 19)}+0${offset / 3_600_000}:00`;
}

/** `2026-03-03 12:00:00` */
export function plainStamp(epochMs: number): string {
  return new Date(epochMs + offsetMs(epochMs)).toISOString().slice(0, 19).replace("T", " ");
}

/** Is this text a day of the calendar, written `YYYY-MM-DD`? */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Summer time of the European Union: last Sundays of March and October, 01:00 UTC. */
function offsetMs(epochMs: number): number {
  const year = new Date(epochMs).getUTCFullYear();
  const summer = epochMs >= lastSunday(year, 2) && epochMs < lastSunday(year, 9);
  return summer ? 7_200_000 : 3_600_000;
}

function lastSunday(year: number, month: number): number {
  const last = new Date(Date.UTC(year, month + 1, 0, 1));
  return last.getTime() - last.getUTCDay() * dayMs;
}
