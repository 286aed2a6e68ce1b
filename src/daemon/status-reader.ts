import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import { noteOf, type ReceiverFacts } from "../status/receiver-note.ts";
import type { CompanyStatusView } from "../status/company-view.ts";
import { readView } from "../status/company-view.ts";
import type { CompanyRuntime } from "./company-runtime.ts";
import type { CompanySettings } from "./daemon-context.ts";
import type { CompanyCounters, Counting } from "./counters.ts";

/** Where a company's status is read from. */
export interface StatusSources {
  readonly clock: Clock;
  readonly settings: CompanySettings;
  readonly manifest: Manifest;
  readonly counters: CompanyCounters;
  readonly receiver: Omit<ReceiverFacts, "skewMs">;
  /** How the company stands without a runtime. */
  readonly closedState: CompanyStatusView["service"];
  readonly runtime: CompanyRuntime | null;
}

/** Never throws: a mirror that cannot be read is a problem of this company, and hides no other. */
export function readCompanyStatus(sources: StatusSources): CompanyStatusView {
  try {
    return viewOf(sources, sources.runtime);
  } catch (error) {
    const service = { state: "database", message: messageOf(error), sinceMs: sources.clock.nowMs() } as const;
    return { ...viewOf(sources, null), service };
  }
}

/** @param readable the runtime; null: its mirror cannot be read, or there is none */
function viewOf(sources: StatusSources, readable: CompanyRuntime | null): CompanyStatusView {
  const { settings, manifest, counters, closedState, runtime, clock } = sources;
  const nowMs = clock.nowMs();
  const view = readView(readable?.mirror.db ?? null, { ...settings, manifest }, nowMs);
  const current = runtime?.runQueue.current ?? null;
  return {
    ...view,
    missingSecrets: missingSecrets(settings, runtime),
    open: runtime !== null,
    service: runtime ? runtime.eventWorker.state() : closedState,
    run: current ? { mode: current.mode, startedMs: current.startedMs } : null,
    runs: { ...counters.runs },
    logHeldMs: readable?.logWatch.heldMs ?? null,
    lastRun: counters.lastRun ?? view.lastRun,
    budget: readable?.service.rateLimiter.view() ?? null,
    ...counters.with(countingOf(runtime)),
    deliveries: Object.fromEntries(counters.deliveries),
    receiver: noteOf({ ...sources.receiver, skewMs: runtime?.service.skew.skewMs() ?? null }),
    writeProblem: runtime?.writeProblem ?? null,
    afterRun: { ...view.afterRun, problem: counters.afterRunProblem },
    nextRunMs: runtime?.schedule?.after(nowMs) ?? null,
  };
}

/** Why secrets that the config names are not known. */
function missingSecrets({ company }: CompanySettings, runtime: CompanyRuntime | null): readonly string[] {
  const ofWebhook = runtime?.keyring.missing() ?? company.webhook.secrets.map(({ problem }) => problem);
  return [company.token.problem, ...ofWebhook].filter((problem) => problem !== null);
}

/** What counts now: the event worker, and the run under way. */
export function countingOf(runtime: CompanyRuntime | null): readonly Counting[] {
  if (!runtime) return [];
  const { eventWorker, service, runQueue } = runtime;
  const ofEvents = { tally: eventWorker.tally, transport: service.transport };
  return runQueue.current ? [ofEvents, runQueue.current.run] : [ofEvents];
}
