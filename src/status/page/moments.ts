import { dayMs, hourMs, isoTime, minuteMs } from "../../base/clock.ts";
import { html, type Html } from "./html.ts";

export interface PageMoment {
  readonly nowMs: number;
  readonly timeZone: string;
}

/** `under a minute`, `12 min`, `3 h`, `4 days`: a text that changes seldom. */
export function roughly(ms: number): string {
  if (ms < minuteMs) return "under a minute";
  if (ms < hourMs) return `${Math.floor(ms / minuteMs)} min`;
  if (ms < 2 * dayMs) return `${Math.floor(ms / hourMs)} h`;
  return `${Math.floor(ms / dayMs)} days`;
}

/** When something was or will be: `3 h ago`, `in 15 h`, with the exact time beside it. Null: `never`. */
export function when(at: string | number | null, moment: PageMoment): Html | string {
  const atMs = typeof at === "string" ? Date.parse(at) : at;
  if (atMs === null || Number.isNaN(atMs)) return "never";
  const awayMs = atMs - moment.nowMs;
  const past = -awayMs < minuteMs ? "just now" : `${roughly(-awayMs)} ago`;
  const text = awayMs > 0 ? `in ${roughly(awayMs)}` : past;
  return timeElement(atMs, text, moment);
}

export function atClock(atMs: number, moment: PageMoment): Html {
  return timeElement(atMs, clockText(atMs, moment), moment);
}

/** `06:40`, or `20 Nov, 06:40` where it is not of the same day. */
export function clockText(atMs: number, { nowMs, timeZone }: PageMoment): string {
  const day = (ms: number) => formatOf("day", timeZone).format(ms);
  const time = formatOf("time", timeZone).format(atMs);
  return day(atMs) === day(nowMs) ? time : `${day(atMs)}, ${time}`;
}

function timeElement(atMs: number, text: string, { timeZone }: PageMoment): Html {
  const exact = formatOf("exact", timeZone).format(atMs);
  return html`<time datetime="${isoTime(atMs)}" title="${exact}">${text}</time>`;
}

const forms = {
  day: ["en-GB", { day: "numeric", month: "short" }],
  time: ["en-GB", { hour: "2-digit", minute: "2-digit" }],
  /** `2026-11-21 06:00:00 CET` */
  exact: ["sv", { dateStyle: "short", timeStyle: "long" }],
} as const;

/** To make one takes as long as to make a page. */
const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(form: keyof typeof forms, timeZone: string): Intl.DateTimeFormat {
  const key = `${form} ${timeZone}`;
  const [locale, options] = forms[form];
  let format = formats.get(key);
  if (!format) formats.set(key, (format = new Intl.DateTimeFormat(locale, { ...options, timeZone })));
  return format;
}
