import { dayMs, elapsedSince, hourMs, minuteMs } from "../base/clock.ts";
import { someOf } from "../base/names.ts";
import { formatDuration, formatSize } from "../base/units.ts";
import type { AlertKind } from "../config/alert-section.ts";
import { followsRuns } from "./after-run-record.ts";
import { refusingText } from "./event-status.ts";
import { subscriptionProblems } from "../webhook/subscriptions/subscription-problems.ts";
import type { SchemaChange } from "../store/tables/unknown-columns.ts";
import { everySubject, type Condition } from "./alerts/incidents.ts";
import type { CompanyStatusView } from "./company-view.ts";

export type NamedCondition = Omit<Condition, "raises">;

/** A mirror that another process writes for a moment, or that is being opened, is no incident. */
const openingMs = 2 * minuteMs;

/** What can be wrong with a company, by kind and subject, and what to do about it. */
const remedies = {
  "failed secrets":
    "Set the variable or write the file that the config names. A file is used as soon as it is there; a variable needs a restart.",
  "failed writing": "Free some space on the disk, or close the program that holds the file. Nothing is lost.",
  "failed reading":
    "`fintoro-mirror check` says what is wrong with token, network and file. `serve` tries again by itself.",
  "failed after_run":
    "`fintoro-mirror publish` and `fintoro-mirror export` make them at once and name the reason.",
  "stale after_run": "`fintoro-mirror publish` makes the report at once; the log says why it was not made.",
  "stale lists": "The next run reads them. `fintoro-mirror sync` starts one at once.",
  "stale events": "They are read as soon as the service answers. The queue below shows what waits.",
  "stale notify": "Nothing is lost: they are sent in their order, as soon as the receiver takes them.",
  "refused deliveries": "`fintoro-mirror check` compares the webhook secret, the clock and the address.",
  "partial records": "The next run asks for them again. The list below has each reason.",
  "held deletions": "If so much was really deleted, run `fintoro-mirror sync --allow-mass-delete`.",
  "subscription deliveries":
    "`fintoro-mirror webhooks list` shows what is subscribed; `webhooks update` and `webhooks create` mend it. The next run looks again.",
  [`schema ${everySubject}`]:
    "Nothing is lost: new fields are kept, in columns of their own. A newer version may know them; it is told for a week.",
  "gap events": "`serve` makes a run that reads everything, by itself.",
} as const satisfies Readonly<Partial<Record<`${AlertKind} ${string}`, string>>>;

type ConditionId = keyof typeof remedies;

/** Those of which something is known while the mirror is closed, too. */
const closedToo: ReadonlySet<string> = new Set<ConditionId>([
  "failed secrets",
  "failed reading",
  "failed after_run",
  "stale after_run",
  "refused deliveries",
]);

export function remedyFor({ kind, subject }: Pick<NamedCondition, "kind" | "subject">): string {
  // Each condition of a company is made of an id.
  return remedies[`${kind} ${kind === "schema" ? everySubject : subject}` as ConditionId];
}

/**
 * Everything that is wrong with one company: those that block come first, in the order in which /readyz names them.
 * Pure. It does not say whether deliveries may be sent here: they may as long as the process answers. A service that
 * is away is wrong only after a while; a refused token is so at once, since somebody must act.
 */
export function conditionsOf(view: CompanyStatusView, nowMs: number): Condition[] {
  if (!view.open) return whileClosed(view, nowMs);
  return [
    ...view.missingSecrets.map((problem) => wrong("failed secrets", `a secret is missing: ${problem}`)),
    ...receiverConditions(view),
    ...serviceConditions(view, nowMs),
    ...runConditions(view, nowMs),
    ...eventConditions(view, nowMs),
    ...afterRunConditions(view),
    ...wholenessConditions(view),
    ...driftConditions(view.drift, view.run !== null, nowMs),
    ...behindConditions(view, nowMs),
  ];
}

/** What people are shown of it: neither what is only not known, nor what may pass. Pure. */
export function openConditions(view: CompanyStatusView, nowMs: number) {
  return conditionsOf(view, nowMs)
    .filter(({ message, blocks, raises }) => message !== "" && (blocks || raises))
    .map(({ kind, subject, blocks, message }): NamedCondition => ({ kind, subject, blocks, message }));
}

/** What is not whole, or not as it should be; of the others exit codes say nothing. Pure. */
export function isPartial({ kind, subject }: NamedCondition): boolean {
  return (
    ["failed", "partial", "held", "refused"].includes(kind) || (kind === "stale" && subject === "events")
  );
}

function wrong(id: ConditionId, message: string, raises = true): Condition {
  const condition = unsure(id, message);
  const { kind, subject } = condition;
  // Receivers of changes that refuse, or are late: the mirror is as it should be.
  const blocks = ["failed", "stale", "refused"].includes(kind) && subject !== "notify";
  return { ...condition, raises, blocks };
}

/** Nothing can be said of it now: an open incident stays as it is. */
function unsure(id: ConditionId, message = ""): Condition {
  const [kind, subject] = id.split(" ") as [AlertKind, string];
  return { kind, subject, message, raises: false, blocks: false };
}

function whileClosed(view: CompanyStatusView, nowMs: number): Condition[] {
  const { service, missingSecrets } = view;
  const why = service.message === null ? "" : ` (${service.message})`;
  const message = `the mirror's file is not open${why}: deliveries are refused with 503`;
  const isIncident = service.message !== null && nowMs - service.sinceMs > openingMs;
  return [
    wrong("failed reading", message, isIncident),
    ...missingSecrets.map((problem) => wrong("failed secrets", problem)),
    ...receiverConditions(view),
    ...afterRunConditions(view),
    ...(Object.keys(remedies) as ConditionId[]).flatMap((id) =>
      closedToo.has(id) ? [] : [unsure(id, message)],
    ),
  ];
}

function receiverConditions({ writeProblem, receiver, deliveries }: CompanyStatusView): Condition[] {
  const { refusing } = receiver;
  // Refusals are counted since the start: only a delivery that is taken shows that they are over.
  const isTaken = (deliveries["stored"] ?? 0) + (deliveries["known"] ?? 0) > 0;
  const text = `the mirror cannot be written: ${writeProblem ?? ""}`;
  return [
    ...(writeProblem === null ? [] : [wrong("failed writing", text)]),
    ...(refusing === null ? [] : [wrong("refused deliveries", refusingText(refusing))]),
    ...(refusing === null && !isTaken ? [unsure("refused deliveries")] : []),
  ];
}

const impediments: Partial<Record<CompanyStatusView["service"]["state"], string>> = {
  unauthenticated: "the service does not take the token",
  identity: "the token is another company's",
  database: "the mirror's file cannot be written",
};

function serviceConditions(view: CompanyStatusView, nowMs: number): Condition[] {
  const { state, sinceMs, message } = view.service;
  // Without its token nothing is asked of the service: the missing secret is what is wrong.
  if (view.missingSecrets.includes(message ?? "")) return [unsure("failed reading")];
  const impediment = impediments[state];
  if (impediment !== undefined) return [wrong("failed reading", impediment)];
  if (state === "working") return [];
  const lastedMs = nowMs - sinceMs;
  const isOutage = lastedMs > view.limits.outageLimitMs;
  const text = `the service has not been reached for ${formatDuration(lastedMs)}`;
  return [{ ...wrong("failed reading", text, isOutage), blocks: isOutage }];
}

/** Outcomes of runs that somebody ended, or a limit: the next run goes on. */
const endedEarly: ReadonlySet<string> = new Set(["interrupted", "stopped"]);

/**
 * A list is complete before the details of its records are: only a complete run shows that all is there. A run that
 * was cut off left something unread, until another one ends; one under way is about to.
 */
function runConditions(view: CompanyStatusView, nowMs: number): Condition[] {
  const { wholeRunMs, run, lastRun } = view;
  const isCutOff = lastRun !== null && lastRun.outcome !== "complete" && lastRun.outcome !== "partial";
  const why = lastRun?.message ? `: ${lastRun.message}` : "";
  const text = `the last run did not finish: ${lastRun?.outcome ?? ""}${why}`;
  const raises = isCutOff && run === null && !endedEarly.has(lastRun.outcome);
  const cutOff = isCutOff ? [{ ...wrong("failed reading", text, raises), blocks: run === null }] : [];
  if (wholeRunMs !== null) return [...cutOff, ...listConditions(view, nowMs)];
  const since = run ? `: the first run has lasted for ${formatDuration(nowMs - run.startedMs)}` : "";
  const unread = wrong("stale lists", `not everything was read yet${since}`, false);
  return [unread, ...cutOff.map((one) => ({ ...one, blocks: false }))];
}

export function staleLists(view: CompanyStatusView, nowMs: number) {
  const swept = view.open ? Object.entries(view.sweptMs) : [];
  const isStale = (ms: number) => elapsedSince(ms, nowMs) > view.limits.freshForMs;
  return {
    never: swept.flatMap(([name, ms]) => (ms === null ? [name] : [])),
    stale: swept.flatMap(([name, ms]) => (ms !== null && isStale(ms) ? [name] : [])),
  };
}

function listConditions(view: CompanyStatusView, nowMs: number): Condition[] {
  const { never, stale } = staleLists(view, nowMs);
  const age = formatDuration(view.limits.freshForMs);
  const old = `read whole longer than ${age} ago, or by a clock that was ahead: ${stale.join(", ")}`;
  return [
    ...(never.length > 0 ? [wrong("stale lists", `never read whole: ${never.join(", ")}`, false)] : []),
    ...(stale.length > 0 ? [wrong("stale lists", old)] : []),
  ];
}

/** How long the oldest waiting event has waited, ms; 0 without one, or when the clock was set back. */
export function oldestWaitingMs({ events }: CompanyStatusView, nowMs: number): number {
  return Math.max(0, nowMs - (events.oldestWaitingMs ?? nowMs));
}

function eventConditions(view: CompanyStatusView, nowMs: number): Condition[] {
  const waitedMs = oldestWaitingMs(view, nowMs);
  if (waitedMs <= view.limits.outageLimitMs) return [];
  const text = `${view.events.waiting} events wait, the oldest for ${formatDuration(waitedMs)}`;
  return [wrong("stale events", text)];
}

function behindConditions({ receivers }: CompanyStatusView, nowMs: number): Condition[] {
  return receivers.flatMap(({ receiver, position, waiting_since: since }) => {
    const waitedMs = since === null ? 0 : Math.max(0, nowMs - Date.parse(since));
    if (waitedMs <= hourMs && position?.refuses !== true) return [];
    const why = position?.error ? `: ${position.error}` : "";
    const text = `changes wait for ${receiver}, the oldest for ${formatDuration(waitedMs)}${why}`;
    return [wrong("stale notify", text)];
  });
}

/** A report that is made for nobody any more shows old facts as current ones. */
function afterRunConditions({ afterRun, limits: { freshForMs } }: CompanyStatusView): Condition[] {
  const { steps, problem, isReportScheduled } = afterRun;
  const failed = steps.flatMap(({ step, outcome, error }) =>
    outcome === "failed" ? [`not made after the last run: ${step}: ${error}`] : [],
  );
  const causes = [...(problem ? [`what follows runs failed: ${problem}`] : []), ...failed];
  const aging = steps.filter(({ step }) => followsRuns(step, isReportScheduled));
  const old = aging.flatMap(({ step, age_ms: ageMs }) =>
    ageMs !== null && ageMs > freshForMs ? [step] : [],
  );
  const age = formatDuration(freshForMs);
  const text = `last made longer than ${age} ago, or by a clock that was ahead: ${old.join(", ")}`;
  return [
    ...causes.map((cause) => wrong("failed after_run", cause)),
    // A failure that another process has seen lasts until this one has made something.
    ...(problem === undefined && steps.length > 0 ? [unsure("failed after_run")] : []),
    ...(old.length > 0 ? [wrong("stale after_run", text)] : []),
  ];
}

const mostNamed = 5;

/** What is not whole, although it is current: it does not keep the mirror from being read. */
function wholenessConditions({ wholeness, queue, run, wholeRunMs }: CompanyStatusView): Condition[] {
  const { troubles, quarantined, mayHaveLostEvents } = wholeness;
  const held = troubles.filter(({ kind }) => kind === "held");
  const others = troubles.filter(({ kind }) => !["held", "quarantined", "dead"].includes(kind));
  const setAside = queue.reduce((sum, { state, count }) => sum + (state === "dead" ? count : 0), 0);
  const partial = [
    ...others.slice(0, mostNamed).map(({ resource, message }) => `${resource}: ${message}`),
    ...(setAside > 0 ? [`set aside: ${setAside} reads`] : []),
    ...(quarantined > 0 ? [`in quarantine: ${quarantined} records`] : []),
  ];
  const lost =
    "events may have been lost while no deliveries were received: the next run that reads everything finds them";
  return [
    ...partial.map((text) => wrong("partial records", text)),
    ...held.map(({ resource, message }) => wrong("held deletions", `${resource}: ${message}`)),
    ...(mayHaveLostEvents && wholeRunMs !== null ? [wrong("gap events", lost)] : []),
    // It asks again for what was set aside or held, and may find the same.
    ...(run ? [unsure("partial records"), unsure("held deletions")] : []),
  ];
}

/** For so long a change is named: until then somebody has read it. */
const namedForMs = 7 * dayMs;

/**
 * What the service does otherwise than it was set up, or than it is known. Changes of one day (UTC) are one condition,
 * so that what comes on a later day begins another. While a run reads, more of the same may follow.
 */
function driftConditions(
  { subscriptions, schemaChanges }: CompanyStatusView["drift"],
  isReading: boolean,
  nowMs: number,
): Condition[] {
  const problems = subscriptions ? subscriptionProblems(subscriptions) : [];
  const recent = schemaChanges.filter(({ at }) => elapsedSince(Date.parse(at), nowMs) < namedForMs);
  const days = [...Map.groupBy(recent, ({ at }) => at.slice(0, 10))];
  return [
    ...problems.map((text) => wrong("subscription deliveries", text)),
    ...days.map(([day, changes]) => ({
      ...wrong(`schema ${everySubject}`, schemaText(day, changes), !isReading),
      subject: day,
    })),
  ];
}

function schemaText(day: string, changes: readonly SchemaChange[]): string {
  const texts = (isNew: boolean) => {
    const some = changes.filter(({ type }) => (type === null) === isNew);
    const each = some.map(
      ({ field, type, record }) => `${field}${isNew ? "" : ` as ${type}`} (first in record ${record})`,
    );
    return each.length > 0
      ? [`${isNew ? "fields that the connector does not know: " : ""}${someOf(each, mostNamed)}`]
      : [];
  };
  return `since ${day} the service sends ${[...texts(true), ...texts(false)].join("; ")}`;
}

/** Below this `check` warns and an incident begins; it ends when there is half as much again. */
export const lowSpaceBytes = 1_000_000_000;

export function spaceConditions(freeBytes: number): Condition[] {
  if (freeBytes >= lowSpaceBytes * 1.5) return [];
  const message = `${formatSize(freeBytes)} free on the disk of data_dir`;
  const condition = { kind: "disk_low", subject: "data_dir", message, blocks: false } as const;
  return [{ ...condition, raises: freeBytes < lowSpaceBytes }];
}
