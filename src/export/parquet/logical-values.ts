const dayMs = 86_400_000;

/** Days since 1970; null for a text that is no date of the calendar. */
export function daysOf(text: string): number | null {
  const match = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!match) return null;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(ms) || new Date(ms).getUTCDate() !== Number(match[3]) ? null : ms / dayMs;
}

const moment = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d)?$/;

/** Microseconds since 1970 in UTC; a text without a zone is taken as UTC. Null for what is no time, or finer. */
export function microsOf(text: string): bigint | null {
  const match = moment.exec(text);
  if (!match) return null;
  const [, date = "", time = "", fraction = "", zone = "Z"] = match;
  const days = daysOf(date);
  const ms = Date.parse(`${date}T${time}${zone}`);
  if (days === null || Number.isNaN(ms) || /[1-9]/.test(fraction.slice(6))) return null;
  return BigInt(ms) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
}
