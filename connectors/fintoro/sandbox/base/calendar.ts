/** Days as numbers since 1970 (UTC), dates as `YYYY-MM-DD`, time stamps in the time of Bratislava, numbers of documents. */
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

/** `FA(RRRR)(CCC)` -> `FA2026007`: fills in the tokens for year, month and counter. */
export function formatNumber(pattern: string, day: number, counter: number): string {
  const [year = "", month = ""] = dateOf(day).split("-");
  return pattern.replace(/\((RRRR|YYYY|RR|YY|MM|C+)\)/g, (_, token: string) => {
    if (token.startsWith("C")) return String(counter).padStart(token.length, "0");
    if (token === "MM") return month;
    return token.length === 4 ? year : year.slice(-2);
  });
}

/** The variable symbol of a document number: its last ten digits. */
export const variableSymbol = (number: string) => Number(number.replace(/\D/g, "").slice(-10) || "0");
