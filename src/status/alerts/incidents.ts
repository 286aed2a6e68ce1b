import { elapsedSince, hourMs, isoTime, minuteMs } from "../../base/clock.ts";
import { backoffMs, retries } from "../../retry/retry-limits.ts";
import type { AlertKind } from "../../config/alert-section.ts";

/** Something that is wrong, or about which nothing can be said now. Kind and subject are its stable id. */
export interface Condition {
  readonly kind: AlertKind;
  /** What it is about, one of a few words: an incident has one kind and one subject. */
  readonly subject: string;
  readonly message: string;
  /** False: an open incident stays as it is, none begins. */
  readonly raises: boolean;
  /** /readyz names it, and is 503 because of it. */
  readonly blocks: boolean;
}

/** What a target is sent. Times are ISO. */
export interface Alert {
  /** The same in every attempt: who receives it twice knows it by this. */
  readonly id: string;
  readonly event: "begin" | "end" | "test";
  readonly kind: AlertKind | "test";
  readonly subject: string;
  /** Null: it concerns all companies. */
  readonly company: string | null;
  readonly message: string;
  readonly began_at: string;
  readonly ended_at: string | null;
}

/** A condition from its beginning, with its first message, to its end. Times are ISO. */
interface Incident extends Pick<Condition, "kind" | "subject" | "message"> {
  readonly id: string;
  readonly began_at: string;
  /** Null: it is open. */
  readonly ended_at: string | null;
  /** Since when nothing is wrong; null: something is. */
  readonly clear_since: string | null;
  /** How often it came back soon after its end. */
  readonly returns: number;
  readonly sent_to: readonly string[];
}

export interface Undelivered {
  readonly alert: Alert;
  readonly target: string;
  readonly attempts: number;
  /** Not before this, ISO; null: at once. */
  readonly retry_at: string | null;
  readonly error: string | null;
}

export interface AlertState {
  /** Open ones, and the last one of each kind and subject that ended lately. */
  readonly incidents: readonly Incident[];
  /** In the order of their sending. */
  readonly undelivered: readonly Undelivered[];
}

export interface AlertFacts {
  /** Null: what concerns all companies. */
  readonly company: string | null;
  readonly conditions: readonly Condition[];
  readonly targets: readonly { readonly key: string; readonly when: readonly AlertKind[] }[];
  readonly nowMs: number;
  readonly newId: () => string;
}

export const noIncidents: AlertState = { incidents: [], undelivered: [] };

/** What comes back within this time after its end has returned. */
const returnMs = 6 * hourMs;
/** How long nothing must be wrong before an incident that returned has ended: longer with each return. */
const calm = { baseMs: 15 * minuteMs, maxMs: 4 * hourMs };

/**
 * Pure: which incidents are open after these conditions, and what is to be sent about them. An alert is sent once to
 * each target when an incident begins, also to a target that the config names later, and once when it ends. What
 * comes and goes is sent a few times; then its incident stays open until it has been calm for a while.
 */
export function decideAlerts(state: AlertState, facts: AlertFacts): AlertState {
  const seen = seenConditions(facts.conditions);
  const known = state.incidents.map((one) => (one.ended_at === null ? look(one, seen, facts) : one));
  const all = announce([...known, ...begun(known, seen, facts)], facts);
  const configured = new Set(facts.targets.map(({ key }) => key));
  const undelivered = [...state.undelivered, ...alertsOf(state, all, facts.company)];
  return {
    incidents: all.filter((one) => isRemembered(one, all, facts.nowMs)),
    undelivered: undelivered.filter(({ target }) => configured.has(target)),
  };
}

type Seen = ReadonlyMap<string, Condition>;

/** A subject that stands for each of its kind: nothing can be said about any. */
export const everySubject = "*";

function keyOf({ kind, subject }: Pick<Condition, "kind" | "subject">): string {
  return `${kind} ${subject}`;
}

/** Conditions of one kind and subject are one: where some raise it, theirs are its messages. */
function seenConditions(conditions: readonly Condition[]): Seen {
  const seen = new Map<string, Condition>();
  for (const one of conditions) {
    const before = seen.get(keyOf(one));
    const isSecond = before?.raises === true;
    if (isSecond && !one.raises) continue;
    seen.set(keyOf(one), isSecond ? { ...one, message: `${before.message}; ${one.message}` } : one);
  }
  return seen;
}

function look(incident: Incident, seen: Seen, { nowMs }: AlertFacts): Incident {
  const keys = [keyOf(incident), keyOf({ ...incident, subject: everySubject })];
  if (keys.some((key) => seen.has(key))) return { ...incident, clear_since: null };
  const clearSince = incident.clear_since ?? isoTime(nowMs);
  const calmMs = incident.returns === 0 ? 0 : backoffMs(incident.returns, calm);
  const isOver = elapsedSince(Date.parse(clearSince), nowMs) >= calmMs;
  return { ...incident, clear_since: clearSince, ended_at: isOver ? isoTime(nowMs) : null };
}

function begun(known: readonly Incident[], seen: Seen, { nowMs, newId }: AlertFacts): Incident[] {
  const isOpen = new Set(known.filter((one) => one.ended_at === null).map(keyOf));
  const raised = [...seen].filter(([key, { raises }]) => raises && !isOpen.has(key));
  return raised.map(([key, { kind, subject, message }]) => {
    const last = known.findLast((one) => keyOf(one) === key);
    const times = { began_at: isoTime(nowMs), ended_at: null, clear_since: null };
    const returns = last && isRecent(last, nowMs) ? last.returns + 1 : 0;
    return { id: newId(), kind, subject, message, ...times, returns, sent_to: [] };
  });
}

function isRecent({ ended_at: endedAt }: Incident, nowMs: number): boolean {
  return endedAt !== null && elapsedSince(Date.parse(endedAt), nowMs) < returnMs;
}

/** The last one of its kind and subject is remembered for a while after its end. */
function isRemembered(incident: Incident, all: readonly Incident[], nowMs: number): boolean {
  if (incident.ended_at === null) return true;
  return isRecent(incident, nowMs) && all.findLast((one) => keyOf(one) === keyOf(incident)) === incident;
}

function announce(incidents: readonly Incident[], { targets }: AlertFacts): Incident[] {
  return incidents.map((one) => {
    if (one.clear_since !== null) return one;
    const wanted = targets.filter(({ when }) => when.includes(one.kind)).map(({ key }) => key);
    return { ...one, sent_to: [...new Set([...one.sent_to, ...wanted])] };
  });
}

function alertsOf(before: AlertState, incidents: readonly Incident[], company: string | null): Undelivered[] {
  const old = new Map(before.incidents.map((one) => [one.id, one]));
  return incidents.flatMap((incident) => {
    const known = old.get(incident.id);
    const ends = known?.ended_at === null && incident.ended_at !== null;
    const fresh = incident.sent_to.filter((target) => !known?.sent_to.includes(target));
    const event = ends ? "end" : "begin";
    const targets = ends ? incident.sent_to : fresh;
    const { id, kind, subject, message, began_at, ended_at } = incident;
    const about = { kind, subject, company, message, began_at, ended_at };
    const alert = { id: `${id}-${event}`, event, ...about } as const;
    return targets.map((target) => ({ alert, target, attempts: 0, retry_at: null, error: null }));
  });
}

/** The targets that have not taken something, with the attempts for the first of it. Pure. */
export function targetsLeft({ undelivered }: AlertState) {
  return [...Map.groupBy(undelivered, ({ target }) => target)].map(([target, all]) => ({
    target,
    count: all.length,
    attempts: all[0]?.attempts ?? 0,
    error: all[0]?.error ?? null,
  }));
}

/** Pure: the first alert for each target that is due; later ones wait for it. */
export function dueAlerts({ undelivered }: AlertState, nowMs: number): Undelivered[] {
  const byTarget = Map.groupBy(undelivered, ({ target }) => target);
  // A clock that was ahead has put it off: then it is due.
  const heads = [...byTarget.values()].flatMap((all) => all.slice(0, 1));
  return heads.filter(
    ({ retry_at: at }) => at === null || Date.parse(at) <= nowMs || Date.parse(at) > nowMs + 2 * hourMs,
  );
}

/** Pure: what is kept after an attempt. `error`: why it failed; null: the target has taken it. */
export function afterAttempt(
  state: AlertState,
  sent: Pick<Undelivered, "alert" | "target">,
  error: string | null,
  nowMs: number,
): AlertState {
  const undelivered = state.undelivered.flatMap((one) => {
    if (one.target !== sent.target || one.alert.id !== sent.alert.id) return [one];
    const attempts = one.attempts + 1;
    if (error === null || attempts >= retries.alert.attempts) return [];
    const retryAtMs = nowMs + backoffMs(attempts, retries.alert);
    return [{ ...one, attempts, retry_at: isoTime(retryAtMs), error }];
  });
  return { ...state, undelivered };
}
