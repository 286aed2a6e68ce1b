import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { CompanyStatusView } from "../status/company-status.ts";
import { readLiveFacts, type LiveFacts } from "../status/live-facts.ts";
import type { CompanyRuntime } from "./company-runtime.ts";
import type { CompanySettings } from "./daemon-context.ts";
import type { CompanyCounters } from "./counters.ts";

/** Where a company's status is read from. */
export interface StatusSources {
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
    return viewOf(sources, readFacts(sources, sources.runtime));
  } catch (error) {
    const { runtime, clock } = sources;
    const service = { state: "database", message: messageOf(error), sinceMs: clock.nowMs() } as const;
    return { ...viewOf(sources, readFacts(sources, null)), open: runtime !== null, service };
  }
}

function viewOf(sources: StatusSources, facts: Facts): CompanyStatusView {
  const { settings, counters, closedState, runtime, clock } = sources;
  const current = runtime?.runQueue.current ?? null;
  const counting = runtime
    ? [{ tally: runtime.eventWorker.tally, transport: runtime.service.transport }]
    : [];
  if (current) counting.push(current.run);
  return {
    company: settings.company.name,
    open: runtime !== null,
    service: runtime ? runtime.eventWorker.state() : closedState,
    run: current ? { mode: current.mode, startedMs: current.startedMs } : null,
    runs: { ...counters.runs },
    ...facts,
    ...counters.with(counting),
    deliveries: { ...counters.deliveries },
    nextRunMs: runtime?.schedule?.after(clock.nowMs()) ?? null,
  };
}

type Facts = Pick<CompanyStatusView, keyof LiveFacts | "queue" | "budget">;

/** @param runtime null: what is known without one */
function readFacts({ settings, counters }: StatusSources, runtime: CompanyRuntime | null): Facts {
  const names = settings.resources.map(({ name }) => name);
  const facts = readLiveFacts(runtime?.mirror ?? null, names);
  return {
    ...facts,
    lastRun: counters.lastRun ?? facts.lastRun,
    queue: runtime?.queue.counts() ?? [],
    budget: runtime?.service.rateLimiter.view() ?? null,
  };
}
