import { hourMs, isoTime, minuteMs, type Clock } from "../../../src/base/clock.ts";
import { emptyReceiverNote } from "../../../src/status/event-status.ts";
import type { StepStatus } from "../../../src/status/after-run-record.ts";
import type { CompanyStatusView } from "../../../src/status/company-view.ts";
import { createPages, type Pages } from "../../../src/status/render/pages.ts";
import type { SchemaChange } from "../../../src/store/tables/unknown-columns.ts";
import type { Subscription } from "../../../src/webhook/subscriptions/subscription-client.ts";
import { jumpingClock } from "../terminal/terminal.ts";

/** 2026-11-21T08:00:00Z, the time of the request. */
export const lookedAtMs = Date.UTC(2026, 10, 21, 8);

/** A company in the daemon without any problem. */
export function companyView(facts: Partial<CompanyStatusView> = {}): CompanyStatusView {
  return {
    company: "acme",
    limits: { freshForMs: 26 * hourMs, outageLimitMs: hourMs / 4 },
    missingSecrets: [],
    open: true,
    service: { state: "working", message: null, sinceMs: lookedAtMs - 8 * hourMs },
    run: null,
    lastRun: {
      outcome: "complete",
      startedMs: lookedAtMs - 6 * hourMs,
      finishedMs: lookedAtMs - 6 * hourMs + 90_000,
      message: null,
    },
    wholeRunMs: lookedAtMs - 6 * hourMs,
    runs: { complete: 3 },
    sweptMs: { invoices: lookedAtMs - 6 * hourMs, clients: lookedAtMs - 6 * hourMs },
    events: { waiting: 0, oldestWaitingMs: null, lastReceivedMs: lookedAtMs - minuteMs },
    wholeness: { troubles: [], quarantined: 0, mayHaveLostEvents: false },
    drift: { subscriptions: null, schemaChanges: [] },
    fileBytes: { database: 900_000, wal: 4_152, diskFree: 50_000_000_000 },
    logHeldMs: 0,
    queue: [],
    budget: { limit: 120, granted: 120, remaining: 63, waitMs: 0 },
    requests: { 200: 57 },
    waitedMs: 1_500,
    rows: [{ resource: "invoices", op: "updated", count: 4 }],
    deliveries: { stored: 7 },
    receiver: emptyReceiverNote,
    writeProblem: null,
    afterRun: { steps: [], problem: null, isReportScheduled: false },
    alerts: { incidents: [], undelivered: [] },
    receivers: [],
    nextRunMs: lookedAtMs + 18 * hourMs,
    ...facts,
  };
}

/** The pages of a daemon that holds these companies and whose answers to others were these. */
export function daemonPages(
  recentViews: () => readonly CompanyStatusView[],
  clock: Clock = jumpingClock(lookedAtMs),
  otherAnswers: Readonly<Record<string, number>> = {},
  dropped = 0,
): Pages {
  return createPages({ otherAnswers, strayRefusals: {}, recentViews }, { dropped }, clock, "1.2.3");
}

/** What /metrics shows of these companies, line by line. */
export async function metricLines(...facts: Parameters<typeof daemonPages>): Promise<string[]> {
  const page = await daemonPages(...facts)["/metrics"]?.();
  return page?.body.toString().split("\n") ?? [];
}

export type ServiceFacts = CompanyStatusView["service"];

export function service(state: ServiceFacts["state"], forMs: number, message: string | null = null) {
  return { state, message, sinceMs: lookedAtMs - forMs };
}

export function waitingEvents(count: number, oldestForMs: number): CompanyStatusView["events"] {
  return { waiting: count, oldestWaitingMs: lookedAtMs - oldestForMs, lastReceivedMs: lookedAtMs };
}

/** One thing that follows runs, made so long ago. */
export function madeStep(step: string, agoMs: number, facts: Partial<StepStatus> = {}): StepStatus {
  const at = isoTime(lookedAtMs - agoMs);
  const made = { outcome: "written", at, duration_ms: 900, error: null, last_success_at: at, seq: 7 };
  return { step, ...made, age_ms: agoMs, ...facts } as StepStatus;
}

/** A field that the service began to send an hour ago. */
export function schemaChange(facts: Partial<SchemaChange> = {}): SchemaChange {
  const at = new Date(lookedAtMs - hourMs).toISOString();
  return { field: "people.nick_name", type: null, record: "7", at, ...facts };
}

/** A subscription that delivers these events to the receiver of acme. */
export function subscription(facts: Partial<Subscription> = {}): Subscription {
  return {
    id: 1,
    name: null,
    url: "https://hooks.example.com/webhooks/acme",
    active: true,
    events: ["invoices.created"],
    last_success_at: null,
    last_failure_at: null,
    disabled_reason: null,
    ...facts,
  };
}
