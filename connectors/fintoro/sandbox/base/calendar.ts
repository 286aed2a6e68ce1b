/** Days as numbers since 1970 (UTC), dates as `YYYY-MM-DD`, and stamps in the time of Bratislava. */
const dayMs = 86_400_000;

export function dayOf(date: string): number {
  return Math.floor(Date.parse(`${date}T00:00:00Z`) / dayMs);
}

/** A few thousand days are asked for again and again. */
const dates = new Map<number, string>();

export function dateOf(day: number): string {
  const known = dates.get(day);
  if (known !== undefined) return known;
  const date = new Date(day * dayMs).toISOString().slice(0, 10);
  dates.set(day, date);
  return date;
}

export function yearOf(day: number): number {
  return Number(dateOf(day).slice(0, 4));
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
  return `${dateOf(Math.floor((epochMs + offset) / dayMs))}T${timeOf(epochMs + offset)}+0${offset / 3_600_000}:00`;
}

/** `2026-03-03 12:00:00` */
export function plainStamp(epochMs: number): string {
  const localMs = epochMs + offsetMs(epochMs);
  return `${dateOf(Math.floor(localMs / dayMs))} ${timeOf(localMs)}`;
}

function timeOf(ms: number): string {
  const seconds = Math.floor((ms % dayMs) / 1000);
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : String(value);
}

/** Is this text a day of the calendar, written `YYYY-MM-DD`? */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Summer time of the European Union: last Sundays of March and October, 01:00 UTC. */
function offsetMs(epochMs: number): number {
  const year = yearOf(Math.floor(epochMs / dayMs));
  const summer = summers.get(year) ?? summerOf(year);
  return epochMs >= summer.fromMs && epochMs < summer.toMs ? 7_200_000 : 3_600_000;
}

interface Summer {
  readonly fromMs: number;
  readonly toMs: number;
}

const summers = new Map<number, Summer>();

function summerOf(year: number): Summer {
  const summer = { fromMs: lastSunday(year, 2), toMs: lastSunday(year, 9) };
  summers.set(year, summer);
  return summer;
}

function lastSunday(year: number, month: number): number {
  const last = new Date(Date.UTC(year, month + 1, 0, 1));
  return last.getTime() - last.getUTCDay() * dayMs;
}
