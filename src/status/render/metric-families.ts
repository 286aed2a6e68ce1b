import { workerStates } from "../../sync/event-worker/worker-status.ts";
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
  /** Samples, or the value of the only one; milliseconds where the name has seconds. Null or undefined: not known. */
  readonly read: (view: CompanyStatusView, nowMs: number) => readonly Sample[] | number | null | undefined;
}

/** What /metrics shows of a company. Alerts depend on the names and labels. */
export const families: readonly Family[] = [
  gauge("database_open", "1 while the mirror's file is open, 0 while deliveries are refused", (view) =>
    Number(view.open),
  ),
  gauge("service_state", "1 for the state that the way to the service is in", ({ service }) =>
    workerStates.map((state) => ({ labels: { state }, value: Number(service.state === state) })),
  ),
  gauge("service_state_since_timestamp_seconds", "when that state began", (view) => view.service.sinceMs),
  gauge(
    "resource_last_success_timestamp_seconds",
    "when the reading began that last read a resource's list whole; 0: never",
    whileOpen(({ sweptMs }) =>
      Object.entries(sweptMs).map(([resource, ms]) => ({ labels: { resource }, value: ms ?? 0 })),
    ),
  ),
  gauge("run_active_seconds", "how long the run under way has lasted; 0 without one", ({ run }, nowMs) =>
    run ? Math.max(0, nowMs - run.startedMs) : 0,
  ),
  gauge(
    "last_run_duration_seconds",
    "how long the last run took",
    ({ lastRun }) => lastRun && lastRun.finishedMs - lastRun.startedMs,
  ),
  gauge("last_run_finished_timestamp_seconds", "when the last run ended", (view) => view.lastRun?.finishedMs),
  gauge(
    "last_run_complete",
    "1 if the last run left nothing undone, otherwise 0",
    ({ lastRun }) => lastRun && Number(lastRun.outcome === "complete"),
  ),
  gauge(
    "last_whole_run_started_timestamp_seconds",
    "when the last run began that read everything, details too; 0: none did yet",
    whileOpen(({ wholeRunMs }) => wholeRunMs ?? 0),
  ),
  gauge("next_run_timestamp_seconds", "when the schedule asks for the next run", (view) => view.nextRunMs),
  counter("runs_total", "runs that ended, by outcome", ({ runs }) =>
    byKey("outcome", runs, ["complete", "partial", "failed"]),
  ),
  counter("rows_total", "records by what was done with them", ({ rows }) =>
    rows.map(({ resource, op, count }) => ({ labels: { resource, op }, value: count })),
  ),
  counter("requests_total", "requests by the status of the answer; none: no answer came", ({ requests }) =>
    byKey("status", requests, ["200", "401", "404", "429", "500", "503", "none"]),
  ),
  counter(
    "budget_waited_seconds_total",
    "time that requests waited for leave to be sent",
    (view) => view.waitedMs,
  ),
  gauge(
    "budget_limit_requests",
    "requests that the service allows in a window",
    (view) => view.budget?.limit,
  ),
  gauge(
    "budget_remaining_requests",
    "requests left in this window, as far as known",
    (view) => view.budget?.remaining,
  ),
  counter("deliveries_total", "deliveries by what they were answered", ({ deliveries }) =>
    byKey("result", deliveries, ["stored", "known", "400", "401", "413", "503"]),
  ),
  gauge(
    "events_waiting",
    "events whose record was not read since they came",
    whileOpen((view) => view.events.waiting),
  ),
  gauge(
    "events_oldest_waiting_seconds",
    "age of the oldest such event; 0 without one",
    whileOpen(oldestWaitingMs),
  ),
  gauge(
    "events_last_received_timestamp_seconds",
    "when the last event came",
    (view) => view.events.lastReceivedMs,
  ),
  gauge("queue_rows", "what is still to be read, by kind; dead: given up", queueRows),
];

/** How long the oldest waiting event has waited, ms; 0 when the clock was set back. */
export function oldestWaitingMs({ events }: CompanyStatusView, nowMs: number): number {
  return events.oldestWaitingMs === null ? 0 : Math.max(0, nowMs - events.oldestWaitingMs);
}

/** The family's samples of one company, in the unit of its name, with the label `company` as the first of each. */
export function samplesOf({ name, read }: Family, view: CompanyStatusView, nowMs: number): Sample[] {
  const perUnit = name.includes("_seconds") ? 1000 : 1;
  const known = read(view, nowMs) ?? [];
  const samples = typeof known === "number" ? [{ labels: {}, value: known }] : known;
  return samples.map(({ labels, value }) => ({
    labels: { company: view.company, ...labels },
    value: value / perUnit,
  }));
}

type Read = Family["read"];

/** For what is read from the mirror's file: unknown while that is closed. */
function whileOpen(read: Read): Read {
  return (view, nowMs) => (view.open ? read(view, nowMs) : null);
}

function gauge(name: string, help: string, read: Read): Family {
  return { name: `fintoro_mirror_${name}`, kind: "gauge", help, read };
}

function counter(name: string, help: string, read: Read): Family {
  return { name: `fintoro_mirror_${name}`, kind: "counter", help: `Since the start: ${help}`, read };
}

/** Usual keys are shown from the start with 0, so that an alert on growth sees the first count. */
function byKey(label: string, counts: Readonly<Record<string, number>>, usual: readonly string[]): Sample[] {
  const all = { ...Object.fromEntries(usual.map((key) => [key, 0])), ...counts };
  return Object.entries(all).map(([key, value]) => ({ labels: { [label]: key }, value }));
}

function queueRows({ queue }: CompanyStatusView): Sample[] {
  const sums = new Map<string, { labels: Sample["labels"]; value: number }>();
  for (const { kind, state, count } of queue) {
    const value = count + (sums.get(`${kind} ${state}`)?.value ?? 0);
    sums.set(`${kind} ${state}`, { labels: { kind, state }, value });
  }
  return [...sums.values()];
}
