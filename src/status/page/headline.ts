import { counted } from "../../base/units.ts";
import { openConditions, remedyFor, type NamedCondition } from "../conditions.ts";
import type { CompanyStatusView } from "../company-view.ts";
import { clockText, roughly } from "./moments.ts";
import type { CompanyPageFacts } from "./page-facts.ts";

/** How a company stands, in one word: `bad` is not current, `look` is current but not whole, `busy` is a first run. */
export type Level = "good" | "look" | "bad" | "busy";

/** The sentence on top of a page. `next`: what to do, or what is known besides; null: nothing. */
type Headline = Readonly<{ level: Level; sentence: string; next: string | null }>;

/** What is wrong and shown: each message once, neither what is only not known nor what a first run has not read yet. Pure. */
export function shownConditions(view: CompanyStatusView, nowMs: number) {
  const shown = openConditions(view, nowMs).filter(
    ({ subject }) => !(subject === "lists" && isFirstRun(view)),
  );
  return shown.filter(({ message }, i) => shown.findIndex((one) => one.message === message) === i);
}

export function companyLevel(view: CompanyStatusView, nowMs: number): Level {
  const shown = shownConditions(view, nowMs);
  if (isStarting(view) || (isFirstRun(view) && shown.length === 0)) return "busy";
  if (shown.some(({ blocks }) => blocks)) return "bad";
  return shown.length > 0 ? "look" : "good";
}

export function isFirstRun({ wholeRunMs, run }: CompanyStatusView): boolean {
  return wholeRunMs === null && run !== null;
}

function isStarting({ open, service }: CompanyStatusView): boolean {
  return !open && service.message === null;
}

/** The sentence of one company. Pure. */
export function headlineOf(facts: CompanyPageFacts): Headline {
  const { view, moment, unreadable } = facts;
  const level = companyLevel(view, moment.nowMs);
  if (unreadable !== null)
    return { level: "bad", sentence: "The mirror's file cannot be read", next: unreadable };
  if (level === "busy") return busyHeadline(facts);
  const shown = shownConditions(view, moment.nowMs);
  const [first] = shown;
  const isUnread = view.wholeRunMs === null && shown.every(({ subject }) => subject === "lists");
  if (first && isUnread) return unreadHeadline(view);
  if (first) return wrongHeadline(level, first, shown.length - 1);
  return goodHeadline(facts);
}

function busyHeadline({ view, status, progress }: CompanyPageFacts): Headline {
  if (isStarting(view)) return { level: "busy", sentence: "The mirror is being opened", next: null };
  const live = status.health?.resources.reduce((sum, one) => sum + one.live, 0) ?? 0;
  const next = progress ? `${counted(progress.queued, "request")} known so far to be made` : null;
  const sentence = `The first run is reading everything: ${counted(live, "record")} so far`;
  return { level: "busy", sentence, next };
}

function unreadHeadline({ lastRun, nextRunMs }: CompanyStatusView): Headline {
  const sentence = lastRun === null ? "Nothing was read yet" : "Not everything was read yet";
  const start = "`fintoro-mirror sync` starts a run at once";
  const next = nextRunMs === null ? `${start}.` : `The next run does, and ${start}.`;
  return { level: "bad", sentence, next };
}

/** Is the only thing that is wrong said by the sentence on top? Pure. */
export function isSaidOnTop(shown: readonly NamedCondition[]): boolean {
  const [first, another] = shown;
  return first !== undefined && another === undefined && first.message.length <= mostCharacters;
}

/** A sentence that is longer is no headline. */
const mostCharacters = 120;

function wrongHeadline(level: Level, first: NamedCondition, others: number): Headline {
  const start = level === "bad" ? "Not current" : "Current, but";
  const fits = first.message.length <= mostCharacters;
  const short = first.subject === "lists" ? "some lists are too old" : "something is wrong";
  const what = fits ? first.message : short;
  const more =
    others === 0 ? "" : ` ${counted(others, "more thing")} ${others === 1 ? "is" : "are"} listed below.`;
  const sentence = `${start}${level === "bad" ? ":" : ""} ${what}`;
  return { level, sentence, next: `${remedyFor(first)}${more}` };
}

function goodHeadline({ view, status: { verified }, moment }: CompanyPageFacts): Headline {
  const times = Object.values(view.sweptMs).filter((ms) => ms !== null);
  const freshMs = times.length > 0 ? Math.min(...times) : (view.wholeRunMs ?? 0);
  const asOf = `as of ${clockText(freshMs, moment)}`;
  const sentence = `Everything is fresh ${asOf}`;
  const never = "It was never compared with the service: `fintoro-mirror verify` proves that both are equal.";
  if (verified === null) return { level: "good", sentence, next: never };
  const provedMs = Date.parse(verified.at);
  const age = `${roughly(moment.nowMs - provedMs)} ago`;
  if (!verified.match) {
    const next = `That was ${age}. \`fintoro-mirror verify --repair\` reads again what differs, and says what is left.`;
    return { level: "look", sentence: `${sentence}, but \`verify\` found a difference`, next };
  }
  if (provedMs < freshMs)
    return { level: "good", sentence, next: `It was proved equal to the service ${age}.` };
  return { level: "good", sentence: `Everything is fresh and proven ${asOf}`, next: null };
}
