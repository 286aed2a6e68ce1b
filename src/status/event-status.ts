import { dayMs, isoTime } from "../base/clock.ts";
import { InboxView } from "../state/inbox/inbox.ts";
import { Meta } from "../state/meta.ts";
import { missedMs, UptimeLog, type EndedSpan } from "../state/uptime-log.ts";
import type { Db } from "../store/database.ts";
import type { CompanySettings } from "../store/mirror-files.ts";
import type { LockHolder } from "../store/writer-lock.ts";
import { counted } from "../base/units.ts";
import { skewText } from "../http/clock-skew.ts";
import type { RefusalCounts, Refusing, RefusalWatch } from "../webhook/delivery-gap/refusal-watch.ts";
import type { RefusalReason } from "../webhook/ingest/delivery.ts";
import { mayHaveLost } from "../webhook/delivery-gap/delivery-gap.ts";
import { Runs } from "../state/runs.ts";
import type { WorkerState } from "../sync/event-worker/worker-status.ts";
import type { RunSummary } from "../sync/context/run-summary.ts";
import type { Trouble } from "../sync/context/tally.ts";

export const ordersKey = "orders";

export interface OpenCommand {
  readonly kind: "sync" | "replay" | "prune";
  /** ISO. */
  readonly askedAt: string;
  readonly pid: number;
  readonly state: "waiting" | "running";
}

/** A time in which nobody received deliveries; ISO. */
interface ReceiverGap {
  readonly from: string;
  /** null: until now. */
  readonly to: string | null;
  /**
   * `killed`: counted from the last heartbeat; `silent`: the same, and the daemon is there; `refused`: the receiver
   * refused every delivery.
   */
  readonly cause: "stopped" | "killed" | "silent" | "refused";
}

/** Who holds the mirror's writer lock; null: nobody. */
type Writer = Pick<LockHolder, "command" | "since"> | null;

const mostSpans = 1_000;
const gapDaysMs = 7 * dayMs;

/** Reads what a mirror's file says of events from one snapshot, beside the daemon. */
export function readEventFacts(db: Db) {
  return db.transaction(() => {
    const inbox = new InboxView(db);
    const meta = new Meta(db);
    return {
      counts: inbox.counts(),
      /** When the oldest event that waits for its read was received, ISO; null: none waits. */
      waitingSince: inbox.oldestWaiting(),
      /** Waiting events whose read was given up or is held. */
      stuck: inbox.stuck(),
      lastReceivedAt: inbox.lastReceived(),
      unknownTypes: inbox.unknownTypes(),
      /** When `serve` received deliveries, the oldest first. */
      spans: new UptimeLog(db).latest(mostSpans),
      /** Null: no daemon ever noted one. */
      service: meta.get(serviceKey) as ServiceNote | null,
      ...emptyReceiverNote,
      ...(meta.get(receiverNoteKey) as ReceiverNote | null),
      orders: (meta.get(ordersKey) ?? []) as readonly OpenCommand[],
    };
  })();
}

export const serviceKey = "service";

export type ServiceNote = ReturnType<typeof serviceNote>;

export function serviceNote({ state, message, sinceMs }: WorkerState) {
  return { state, message, since: isoTime(sinceMs) };
}

export type EventStatus = ReturnType<typeof judgeEvents>;

/** Judges the facts: is a daemon receiving, and when was none? Pure. */
export function judgeEvents(
  { spans, ...facts }: ReturnType<typeof readEventFacts>,
  writer: Writer,
  mayBeLost: boolean,
  nowMs: number,
) {
  const last = spans.at(-1);
  const isFresh = last?.ended === null && nowMs - last.seenMs < missedMs;
  const isReceiving = writer !== null && isFresh;
  const listening = isReceiving || (writer !== null && last?.ended === "refused");
  const open = isReceiving ? null : isSilent(spans, facts.service, writer, nowMs) ? "silent" : "killed";
  const gaps = gapsBetween(spans, open);
  return {
    ...facts,
    orders: writer === null ? [] : facts.orders,
    listening,
    /** Since when it does, or did last; ISO, null: never. */
    listeningSince: last ? isoTime(last.startedMs) : null,
    /** Of the last seven days, the oldest first. */
    gaps: gaps.filter(({ to }) => to === null || Date.parse(to) > nowMs - gapDaysMs),
    mayBeLost,
  };
}

/** `open`: why nobody receives, where the last span has no end; null: somebody does. */
function gapsBetween(spans: readonly EndedSpan[], open: "killed" | "silent" | null): ReceiverGap[] {
  const gaps = spans.map(({ seenMs, ended }, index): ReceiverGap => {
    const next = spans[index + 1];
    const cause = ended === null ? "killed" : ended === "refused" ? "refused" : "stopped";
    return { from: isoTime(seenMs), to: next ? isoTime(next.startedMs) : null, cause };
  });
  const last = gaps.pop();
  return last && open ? [...gaps, open === "silent" ? { ...last, cause: open } : last] : gaps;
}

/** Does a daemon hold the mirror and write nothing? Without a webhook secret it writes no heartbeats. */
function isSilent(
  spans: readonly EndedSpan[],
  service: ServiceNote | null,
  writer: Writer,
  nowMs: number,
): boolean {
  if (writer?.command !== "serve" || writer.since === undefined) return false;
  const heldMs = Date.parse(writer.since);
  const last = spans.at(-1);
  if (last && last.startedMs >= heldMs) return last.ended === null && nowMs - last.seenMs >= missedMs;
  const hasWritten = service !== null && Date.parse(service.since) >= heldMs;
  return !hasWritten && nowMs - heldMs >= missedMs;
}

export function daemonSilent({ gaps }: EventStatus): boolean {
  return gaps.some(({ to, cause }) => to === null && cause === "silent");
}

export const receiverNoteKey = "receiver";

/** What the receiver counts, as the daemon wrote it last: valid only while it runs. */
export type ReceiverNote = ReturnType<typeof noteOf>;

export const emptyReceiverNote: ReceiverNote = {
  refused: {},
  refused_elsewhere: {},
  refusing: null,
  clock_skew_seconds: null,
  dropped_connections: 0,
};

/** The note as things stand. */
export function noteOf(
  refusals: Pick<RefusalWatch, "counts" | "refusing">,
  strayRefusals: RefusalCounts,
  dropped: number,
  skewMs: number | null,
) {
  return {
    /** Since the start: deliveries that were refused, by reason. */
    refused: { ...refusals.counts } as RefusalCounts,
    /** Since the start: those for no company of the config. */
    refused_elsewhere: { ...strayRefusals } as RefusalCounts,
    /** Null: as far as known, the service's deliveries arrive. */
    refusing: refusingNote(refusals.refusing(), skewMs),
    /** Above 0 where this machine's clock is ahead of the service's. Null: not known. */
    clock_skew_seconds: skewMs === null ? null : Math.round(skewMs / 1000),
    /** Since the start: connections that the daemon dropped. */
    dropped_connections: dropped,
  };
}

/** A time in which every delivery of the service was refused; ISO, with the most frequent reason. */
function refusingNote(refusing: Refusing | null, skewMs: number | null) {
  if (refusing === null) return null;
  const { sinceMs, lastMs, reason, counts, blamesClock } = refusing;
  const clock = skewMs === null ? "" : skewText(skewMs);
  const hint =
    blamesClock && skewMs !== null
      ? `the probable cause is this machine's clock, ${clock}: set it (chrony, ntpd, systemd-timesyncd)`
      : (hints[reason] ?? otherHint);
  return { since: isoTime(sinceMs), last: isoTime(lastMs), reason, counts, hint };
}

const hints: Partial<Record<RefusalReason, string>> = {
  bad_signature: "compare the webhook secret with the subscription's, or rotate it with `webhooks rotate`",
  stale_timestamp:
    "compare this machine's clock with the service's (`check`); a proxy may hold deliveries back",
  not_stored: "the mirror cannot be written: look for a full disk, or a program that holds it",
  too_busy: "more deliveries come than can be stored: look for a slow disk",
};
const otherHint = "a proxy in between may change headers or bodies: compare with what the service sends";

/** `5 deliveries were refused and none was accepted since …: 5 bad_signature; compare …`. */
export function refusingText({ since, counts, hint }: NonNullable<ReceiverNote["refusing"]>): string {
  const byCount = Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  const total = byCount.reduce((sum, [, count]) => sum + count, 0);
  const list = byCount.map(([reason, count]) => `${count} ${reason}`).join(", ");
  return `${counted(total, "delivery was", "deliveries were")} refused since ${since} and none was accepted: ${list}; ${hint}`;
}

export type WholeRun = NonNullable<ReturnType<typeof lastWholeRun>>;

/** The last run that read all these resources; null: none of the last 2,000 successful runs did. */
export function lastWholeRun(db: Db, resources: readonly string[]) {
  for (const { startedAt, report } of new Runs(db).successes()) {
    const { resources: read = {}, swept = {} } = report as Partial<RunSummary>;
    if (!resources.every((name) => name in read)) continue;
    const startedMs = Date.parse(startedAt);
    const sweptMs = Object.values(swept).map((at) => Date.parse(at));
    /** When the first of its lists was begun, epoch ms: the run saw everything that happened before. */
    const seesFromMs = Math.min(startedMs, ...sweptMs);
    return { startedMs, seesFromMs };
  }
  return null;
}

/** What the last runs that read these resources could not do; quick ones prove nothing. */
export function readTroubles(runs: Runs, resources: readonly string[]): readonly Trouble[] {
  const left = new Set(resources);
  const found: Trouble[] = [];
  for (const { report } of runs.whole()) {
    const { resources: read = {}, troubles = [] } = report as Partial<RunSummary>;
    found.push(...troubles.filter(({ resource }) => left.has(resource) && resource in read));
    for (const name of Object.keys(read)) left.delete(name);
    if (left.size === 0) break;
  }
  return found;
}

/** May all attempts for an event have failed since the last whole run? Without a span nobody ever received deliveries. */
export function mayHaveLostEvents(
  db: Db,
  { company, declaration }: Pick<CompanySettings, "company" | "declaration">,
  whole: WholeRun | null,
  nowMs: number,
): boolean {
  if (company.webhook.secrets.length === 0) return false;
  const spans = new UptimeLog(db).spans(nowMs);
  const [first] = spans;
  if (!first || !whole) return first !== undefined;
  const fromMs = Math.max(whole.seesFromMs, first.startedMs);
  return mayHaveLost(spans, fromMs, nowMs, declaration.webhooks?.retryDelays);
}

/** Without an event for this long, nobody knows whether the service still sends any. */
const quietMs = 7 * dayMs;
/** The uptime log forgets what is older than 30 days. */
const knownMs = 28 * dayMs;

/**
 * Did webhooks arrive without a gap since this moment, as far as the last 28 days show? Then hardly a change was
 * missed, and the scrub may take less of the budget.
 */
export function webhooksCover(db: Db, sinceMs: number, nowMs: number): boolean {
  const last = new InboxView(db).lastReceived();
  if (last === null || nowMs - Date.parse(last) > quietMs) return false;
  return !mayHaveLost(new UptimeLog(db).spans(), Math.max(sinceMs, nowMs - knownMs), nowMs);
}
