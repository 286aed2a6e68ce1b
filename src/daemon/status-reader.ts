import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import { InboxView } from "../state/inbox/inbox-view.ts";
import type { CompanyStatusView } from "../status/company-status.ts";
import { lastEndedRun, sweptTimes } from "../status/mirror-health.ts";
import type { CompanyRuntime } from "./company-runtime.ts";
import type { CompanySettings } from "./company-settings.ts";
import type { CompanyCounters } from "./counters.ts";
import { lastWholeRun } from "../status/live-facts.ts";

export interface StatusSources {
  readonly manifest: Manifest;
  readonly clock: Clock;
  readonly settings: CompanySettings;
  readonly counters: CompanyCounters;
  /** How the company stands without a runtime. */
  readonly closedState: CompanyStatusView["service"];
  readonly runtime: CompanyRuntime | null;
}

/** Never throws: a mirror that cannot be read is a problem of this company, and hides no other. */
export function readCompanyStatus(sources: StatusSources): CompanyStatusView {
  try {
    return viewOf(sources, readFacts(sources));
  } catch (error) {
    const { runtime, clock } = sources;
    const service = { state: "database", message: messageOf(error), sinceMs: clock.nowMs() } as const;
    return { ...viewOf(sources, factsWhileClosed(sources)), open: runtime !== null, service };
  }
}

function viewOf(sources: StatusSources, facts: Facts): CompanyStatusView {
  const { settings, counters, closedState, runtime, clock } = sources;
  const run = runtime?.runQueue.current ?? null;
  const counting = runtime
    ? [{ tally: runtime.eventWorker.tally, stats: runtime.service.transport.stats() }]
    : [];
  if (run) counting.push({ tally: run.tally, stats: run.transport.stats() });
  return {
    company: settings.company.name,
    open: runtime !== null,
    service: runtime ? runtime.eventWorker.state() : closedState,
    run: run ? { mode: run.mode, startedMs: run.startedMs } : null,
    runs: { ...counters.runs },
    ...facts,
    ...counters.with(counting),
    deliveries: { ...counters.deliveries },
    nextRunMs: runtime?.schedule?.after(clock.nowMs()) ?? null,
  };
}

type Facts = Pick<CompanyStatusView, "lastRun" | "wholeRunMs" | "sweptMs" | "events" | "queue" | "budget">;

function readFacts(sources: StatusSources): Facts {
  const { runtime, manifest, settings, counters } = sources;
  if (!runtime) return factsWhileClosed(sources);
  const { db } = runtime.mirror;
  const names = settings.resources.map(({ name }) => name);
  const inbox = new InboxView(db);
  return {
    lastRun: counters.lastRun ?? lastEndedRun(db),
    budget: runtime.service.rateLimiter.view(),
    wholeRunMs: lastWholeRun(db, names)?.startedMs ?? null,
    sweptMs: sweptTimes(db, manifest, names),
    events: {
      waiting: inbox.waiting(),
      oldestWaitingMs: epochMs(inbox.oldestWaiting()),
      lastReceivedMs: epochMs(inbox.lastReceived()),
    },
    queue: runtime.queue.counts(),
  };
}

function factsWhileClosed({ settings, counters }: StatusSources): Facts {
  return {
    lastRun: counters.lastRun,
    budget: null,
    wholeRunMs: null,
    sweptMs: Object.fromEntries(settings.resources.map(({ name }) => [name, null])),
    events: { waiting: 0, oldestWaitingMs: null, lastReceivedMs: null },
    queue: [],
  };
}

function epochMs(iso: string | null): number | null {
  return iso === null ? null : Date.parse(iso);
}
