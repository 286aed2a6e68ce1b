import type { CompanyStatusView } from "../company-status.ts";

/** One number with its labels. */
interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** One metric; each of its samples also has the label `company`. */
export interface Family {
  readonly name: string;
  readonly kind: "gauge" | "counter";
  readonly help: string;
  readonly labels: readonly string[];
  readonly samples: (view: CompanyStatusView, nowMs: number) => readonly Sample[];
}

/** Values of the label `state`. */
export const serviceStates = [
  "starting",
  "working",
  "unavailable",
  "unauthenticated",
  "identity",
  "database",
] as const satisfies readonly CompanyStatusView["service"]["state"][];

/** What /metrics shows of a company. Alerts depend on the names and labels. */
export const families: readonly Family[] = [
  gauge("database_open", "1 while the mirror's file is open, 0 while deliveries are refused", [], (view) =>
    one(view.open ? 1 : 0),
  ),
  gauge("service_state", "1 for the state that the way to the service is in", ["state"], ({ service }) =>
    serviceStates.map((state) => ({ labels: { state }, value: service.state === state ? 1 : 0 })),
  ),
  gauge("service_state_since_timestamp_seconds", "when that state began", [], ({ service }) =>
    one(seconds(service.sinceMs)),
  ),
  gauge(
    "resource_last_success_timestamp_seconds",
    "when the reading began that last read a resource's list whole; 0: never",
    ["resource"],
    whileOpen(({ sweptMs }) =>
      Object.entries(sweptMs).map(([resource, ms]) => ({ labels: { resource }, value: seconds(ms ?? 0) })),
    ),
  ),
  gauge("run_active_seconds", "how long the run under way has lasted; 0 without one", [], ({ run }, nowMs) =>
    one(run ? Math.max(0, seconds(nowMs - run.startedMs)) : 0),
  ),
  gauge("last_run_duration_seconds", "how long the last run took", [], ({ lastRun }) =>
    lastRun ? one(seconds(lastRun.finishedMs - lastRun.startedMs)) : [],
  ),
  gauge("last_run_finished_timestamp_seconds", "when the last run ended", [], ({ lastRun }) =>
    lastRun ? one(seconds(lastRun.finishedMs)) : [],
  ),
  gauge("last_run_complete", "1 if the last run left nothing undone, otherwise 0", [], ({ lastRun }) =>
    lastRun ? one(lastRun.outcome === "complete" ? 1 : 0) : [],
  ),
  gauge(
    "last_whole_run_started_timestamp_seconds",
    "when the last run began that read everything, details too; 0: none did yet",
    [],
    whileOpen(({ wholeRunMs }) => one(seconds(wholeRunMs ?? 0))),
  ),
  gauge("next_run_timestamp_seconds", "when the schedule asks for the next run", [], ({ nextRunMs }) =>
    nextRunMs === null ? [] : one(seconds(nextRunMs)),
  ),
  counter("runs_total", "runs that ended, by outcome", ["outcome"], ({ runs }) =>
    byKey("outcome", runs, ["complete", "partial", "failed"]),
  ),
  counter("rows_total", "records by what was done with them", ["resource", "op"], ({ rows }) =>
    rows.map(({ resource, op, count }) => ({ labels: { resource, op }, value: count })),
  ),
  counter(
    "requests_total",
    "requests by the status of the answer; none: no answer came",
    ["status"],
    (view) => byKey("status", view.requests, ["200", "401", "404", "429", "500", "503", "none"]),
  ),
  counter("budget_waited_seconds_total", "time that requests waited for leave to be sent", [], (view) =>
    one(seconds(view.waitedMs)),
  ),
  gauge("budget_limit_requests", "requests that the service allows in a window", [], ({ budget }) =>
    known(budget?.limit),
  ),
  gauge("budget_remaining_requests", "requests left in this window, as far as known", [], ({ budget }) =>
    known(budget?.remaining),
  ),
  counter("deliveries_total", "deliveries by what they were answered", ["result"], ({ deliveries }) =>
    byKey("result", deliveries, ["stored", "known", "400", "401", "413", "503"]),
  ),
  gauge(
    "events_waiting",
    "events whose record was not read since they came",
    [],
    whileOpen((view) => one(view.events.waiting)),
  ),
  gauge(
    "events_oldest_waiting_seconds",
    "age of the oldest such event; 0 without one",
    [],
    whileOpen((view, nowMs) => one(oldestWaitingMs(view, nowMs) / 1000)),
  ),
  gauge("events_last_received_timestamp_seconds", "when the last event came", [], ({ events }) =>
    events.lastReceivedMs === null ? [] : one(seconds(events.lastReceivedMs)),
  ),
  gauge("queue_rows", "what is still to be read, by kind; dead: given up", ["kind", "state"], queueRows),
];

/** How long the oldest waiting event has waited, ms; 0 when the clock was set back. */
export function oldestWaitingMs({ events }: CompanyStatusView, nowMs: number): number {
  return events.oldestWaitingMs === null ? 0 : Math.max(0, nowMs - events.oldestWaitingMs);
}

type Samples = Family["samples"];

/** For what is read from the mirror's file: unknown while that is closed. */
function whileOpen(samples: Samples): Samples {
  return (view, nowMs) => (view.open ? samples(view, nowMs) : []);
}

function gauge(name: string, help: string, labels: readonly string[], samples: Samples): Family {
  return { name: `fintoro_mirror_${name}`, kind: "gauge", help, labels, samples };
}

function counter(name: string, help: string, labels: readonly string[], samples: Samples): Family {
  return {
    name: `fintoro_mirror_${name}`,
    kind: "counter",
    help: `Since the start: ${help}`,
    labels,
    samples,
  };
}

function one(value: number): Sample[] {
  return [{ labels: {}, value }];
}

function known(value: number | null | undefined): Sample[] {
  return value === null || value === undefined ? [] : one(value);
}

/** Usual keys are shown from the start with 0, so that an alert on growth sees the first count. */
function byKey(label: string, counts: Readonly<Record<string, number>>, usual: readonly string[]): Sample[] {
  const all = { ...Object.fromEntries(usual.map((key) => [key, 0])), ...counts };
  return Object.entries(all).map(([key, value]) => ({ labels: { [label]: key }, value }));
}

function queueRows({ queue }: CompanyStatusView): Sample[] {
  const sums = new Map<string, { kind: string; state: string; sum: number }>();
  for (const { kind, state, count } of queue) {
    const key = `${kind} ${state}`;
    sums.set(key, { kind, state, sum: (sums.get(key)?.sum ?? 0) + count });
  }
  return [...sums.values()].map(({ kind, state, sum }) => ({ labels: { kind, state }, value: sum }));
}

function seconds(ms: number): number {
  return ms / 1000;
}
