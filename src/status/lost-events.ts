import { type RetryDelay, mayHaveLost } from "../webhook/delivery-gap/delivery-gap.ts";
import { InboxView } from "../state/inbox/inbox.ts";
import { Runs } from "../state/runs.ts";
import { UptimeLog } from "../state/uptime-log.ts";
import type { Db } from "../store/database.ts";
import type { CompanyReport } from "../sync/context/run-report.ts";

/** A run that read everything the config asks for, whoever made it. Epoch milliseconds. */
export interface WholeRun {
  readonly startedMs: number;
  /** When the first of its lists was begun: the run saw everything that happened before. */
  readonly seesFromMs: number;
}

/** How many successful runs are searched. */
const runsSearched = 200;

/** The last run that read all these resources; null: none of the last 200 successful runs did. */
export function lastWholeRun(db: Db, resources: readonly string[]): WholeRun | null {
  for (const { startedAt, report } of new Runs(db).successes(runsSearched)) {
    const { resources: read = {}, swept = {} } = report as Partial<CompanyReport>;
    if (!resources.every((name) => name in read)) continue;
    const startedMs = Date.parse(startedAt);
    const sweptMs = Object.values(swept).map((at) => Date.parse(at));
    return { startedMs, seesFromMs: Math.min(startedMs, ...sweptMs) };
  }
  return null;
}

/**
 * May all attempts for an event have failed since the last whole run? Without a span nobody ever received deliveries,
 * and none are missed.
 */
export function mayHaveLostEvents(
  db: Db,
  whole: WholeRun | null,
  nowMs: number,
  delays: readonly RetryDelay[] | undefined,
): boolean {
  const spans = new UptimeLog(db).spans();
  const [first] = spans;
  if (!first || !whole) return first !== undefined;
  return mayHaveLost({ spans, sinceMs: Math.max(whole.seesFromMs, first.startedMs), nowMs, delays });
}

/** Without an event for this long, nobody knows whether the service still sends any. */
const quietMs = 7 * 86_400_000;
/** The uptime log forgets what is older than 30 days. */
const knownMs = 28 * 86_400_000;

/**
 * Did webhooks arrive without a gap since this moment, as far as the last 28 days show? Then hardly a change was
 * missed, and the scrub may take less of the budget.
 */
export function webhooksCover(db: Db, sinceMs: number, nowMs: number): boolean {
  const last = new InboxView(db).lastReceived();
  if (last === null || nowMs - Date.parse(last) > quietMs) return false;
  const spans = new UptimeLog(db).spans();
  return !mayHaveLost({ spans, sinceMs: Math.max(sinceMs, nowMs - knownMs), nowMs });
}
