import { msOrNull } from "../../base/clock.ts";
import { workerStates } from "../../sync/event-worker/worker-status.ts";
import { alertKinds, type AlertKind } from "../../config/alert-section.ts";
import { targetsLeft } from "../alerts/incidents.ts";
import type { RefusalCounts } from "../../webhook/delivery-gap/refusal-watch.ts";
import { refusalReasons } from "../../webhook/ingest/delivery.ts";
import type { CompanyStatusView } from "../company-view.ts";
import { backupStep, reportStep, type StepStatus } from "../after-run-record.ts";
import { oldestWaitingMs, openConditions } from "../conditions.ts";

/** Samples, or the value of the only one; milliseconds where the name has seconds. Null or undefined: not known. */
type ReadMetric = (view: CompanyStatusView, nowMs: number) => readonly Sample[] | number | null | undefined;

/**
 * Renders every metric from the companies' status at the moment of the request. Nothing is counted here, so nothing
 * can disagree, and a company that left the config disappears. A counter restarts at 0 with its company, which
 * Prometheus takes for a restart.
 */
export async function companyMetrics(
  views: readonly CompanyStatusView[],
  nowMs: number,
  strayRefusals: RefusalCounts,
): Promise<string[]> {
  const texts: string[] = [];
  for (const [name, [help, read]] of Object.entries(families)) {
    const samples = views.flatMap((view) => samplesOf(view.company, read(view, nowMs) ?? []));
    if (name === refusedName)
      samples.push(...samplesOf("", byKey("reason", strayRefusals, ["unknown_company"])));
    texts.push(metricText(name, help, samples));
    // Of hundreds of companies: others have their turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
  return texts;
}

/**
 * The metrics of a process that are about no company.
 *
 * @param strays requests that are for no page either, by status: deliveries of a subscription with a mistake in its path
 *   are among them. Null: this process receives none
 */
export function serverMetrics(
  dropped: number,
  strays: Readonly<Record<string, number>> | null,
  build: Sample["labels"],
): string[] {
  const droppedHelp =
    "connections closed since too many were open, or the client did not wait for responses or read them";
  const strayHelp = "requests for no company and no page, by the status of the answer";
  return [
    metricText("dropped_connections_total", droppedHelp, dropped),
    ...(strays ? [metricText("stray_requests_total", strayHelp, byKey("status", strays, ["404"]))] : []),
    metricText("build_info", "1, with the version of this program", [{ labels: build, value: 1 }]),
  ];
}

function samplesOf(company: string, read: readonly Sample[] | number): Sample[] {
  const samples = typeof read === "number" ? [{ labels: {}, value: read }] : read;
  return samples.map(({ labels, value }) => ({ labels: { company, ...labels }, value }));
}

const refusedName = "refused_deliveries_total";
const usualReasons = refusalReasons.filter((reason) => reason !== "unknown_company");

const ageMs = ({ age_ms }: StepStatus) => age_ms;
/** 0: never. */
const lastSuccessMs = ({ last_success_at: at }: StepStatus) => msOrNull(at) ?? 0;

/** What /metrics shows of a company, by name: the help text, and the value. Alerts depend on names and labels. */
const families: Readonly<Record<string, readonly [help: string, read: ReadMetric]>> = {
  database_open: [
    "1 while the mirror's file is open, 0 while deliveries are refused",
    ({ open }) => Number(open),
  ],
  service_state: [
    "1 for the state that the way to the service is in",
    ({ service }) => byKey("state", { [service.state]: 1 }, workerStates),
  ],
  service_state_since_timestamp_seconds: ["when that state began", ({ service }) => service.sinceMs],
  resource_last_success_timestamp_seconds: [
    "when the reading began that last read a resource's list whole; 0: never",
    whileOpen(({ sweptMs }) => byKey("resource", sweptMs)),
  ],
  run_active_seconds: [
    "how long the run under way has lasted; 0 without one",
    ({ run }, nowMs) => (run ? Math.max(0, nowMs - run.startedMs) : 0),
  ],
  last_run_duration_seconds: [
    "how long the last run took",
    ({ lastRun }) => lastRun && lastRun.finishedMs - lastRun.startedMs,
  ],
  last_run_finished_timestamp_seconds: ["when the last run ended", ({ lastRun }) => lastRun?.finishedMs],
  last_run_complete: [
    "1 if the last run left nothing undone, otherwise 0",
    ({ lastRun }) => lastRun && Number(lastRun.outcome === "complete"),
  ],
  last_whole_run_started_timestamp_seconds: [
    "when the last run began that read everything, details too; 0: none did yet",
    whileOpen(({ wholeRunMs }) => wholeRunMs ?? 0),
  ],
  next_run_timestamp_seconds: ["when the schedule asks for the next run", ({ nextRunMs }) => nextRunMs],
  runs_total: [
    "runs that ended, by outcome",
    ({ runs }) => byKey("outcome", runs, ["complete", "partial", "failed"]),
  ],
  rows_total: [
    "records by what was done with them",
    ({ rows }) => rows.map(({ resource, op, count }) => ({ labels: { resource, op }, value: count })),
  ],
  requests_total: [
    "requests by the status of the answer; none: no answer came",
    ({ requests }) => byKey("status", requests, ["200", "401", "404", "429", "500", "503", "none"]),
  ],
  budget_waited_seconds_total: ["time that requests waited for leave to be sent", ({ waitedMs }) => waitedMs],
  budget_limit_requests: ["requests that the service allows in a window", ({ budget }) => budget?.limit],
  budget_remaining_requests: [
    "requests left in this window, as far as known",
    ({ budget }) => budget?.remaining,
  ],
  deliveries_total: [
    "deliveries by what they were answered",
    ({ deliveries }) => byKey("result", deliveries, ["stored", "known", "400", "401", "413", "503"]),
  ],
  [refusedName]: [
    "deliveries that were refused, by reason; without a company: for none of the config",
    ({ receiver }) => byKey("reason", receiver.refused, usualReasons),
  ],
  deliveries_refused: [
    "1 while every delivery of the service is refused, otherwise 0",
    ({ receiver }) => Number(receiver.refusing !== null),
  ],
  clock_skew_seconds: [
    "by how much this machine's clock is ahead of the service's; below 0: behind",
    ({ receiver: { clock_skew_seconds: skew } }) => skew && skew * 1000,
  ],
  events_waiting: [
    "events whose record was not read since they came",
    whileOpen(({ events }) => events.waiting),
  ],
  events_oldest_waiting_seconds: ["age of the oldest such event; 0 without one", whileOpen(oldestWaitingMs)],
  events_last_received_timestamp_seconds: ["when the last event came", ({ events }) => events.lastReceivedMs],
  report_age_seconds: ["age of the last report that was made or found current", ofStep(reportStep, ageMs)],
  report_last_success_timestamp_seconds: [
    "when the report was last made or found current; 0: never",
    ofStep(reportStep, lastSuccessMs),
  ],
  backup_age_seconds: ["age of the last backup that succeeded", ofStep(backupStep, ageMs)],
  backup_last_success_timestamp_seconds: [
    "when a backup last succeeded; 0: never",
    ofStep(backupStep, lastSuccessMs),
  ],
  after_run_last_success_timestamp_seconds: [
    "when each thing that follows runs was last made or found current; 0: never",
    (view) => bySteps(view, lastSuccessMs),
  ],
  after_run_duration_seconds: ["how long it took last", (view) => bySteps(view, (step) => step.duration_ms)],
  after_run_failed: [
    "1 if the last attempt to make it failed, otherwise 0",
    (view) => bySteps(view, ({ outcome }) => Number(outcome === "failed")),
  ],
  wal_bytes: [
    "size of the mirror's write-ahead log; it grows while a reader holds it back",
    ({ fileBytes }) => fileBytes?.wal,
  ],
  oldest_reader_seconds: [
    "for how long at least a reader has held the write-ahead log back; 0 while it is shorter than 128 MiB",
    ({ logHeldMs }) => logHeldMs,
  ],
  database_bytes: ["size of the mirror's file, free pages included", ({ fileBytes }) => fileBytes?.database],
  disk_free_bytes: [
    "what is free on the file system of the mirror, for this user",
    ({ fileBytes }) => fileBytes?.diskFree,
  ],
  conditions: [
    "what is wrong now, by what it is about; 0: nothing of the kind",
    (view, nowMs) => byKind(openConditions(view, nowMs), companyKinds),
  ],
  alerts_open: [
    "incidents by what they are about; 0 without one",
    ({ alerts }) =>
      byKind(
        alerts.incidents.filter((one) => one.ended_at === null),
        alertKinds,
      ),
  ],
  alerts_undelivered: [
    "alerts that their target has not taken yet, by target",
    ({ alerts }) =>
      byKey("target", Object.fromEntries(targetsLeft(alerts).map(({ target, count }) => [target, count]))),
  ],
  queue_rows: ["what is still to be read, by kind; dead: given up", queueRows],
};

/** For what is read from the mirror's file: unknown while that is closed. */
function whileOpen(read: ReadMetric): ReadMetric {
  return (view, nowMs) => (view.open ? read(view, nowMs) : null);
}

const companyKinds = alertKinds.filter((kind) => kind !== "disk_low");

/** Usual keys are shown from the start with 0, so that an alert on growth sees the first count. */
function byKind(all: readonly { readonly kind: AlertKind }[], usual: readonly AlertKind[]): Sample[] {
  const counts = Object.entries(Object.groupBy(all, ({ kind }) => kind));
  return byKey("kind", Object.fromEntries(counts.map(([kind, some]) => [kind, some.length])), usual);
}

/** Of one step; unknown where the config asks for no such thing. */
function ofStep(name: string, read: (step: StepStatus) => number | null): ReadMetric {
  return ({ afterRun }) => afterRun.steps.filter(({ step }) => step === name).map(read)[0];
}

function bySteps({ afterRun }: CompanyStatusView, read: (step: StepStatus) => number | null): Sample[] {
  const known = afterRun.steps.flatMap((one) => {
    const value = read(one);
    return value === null ? [] : [[one.step, value] as const];
  });
  return byKey("step", Object.fromEntries(known));
}

function queueRows({ queue }: CompanyStatusView): Sample[] {
  const groups = Map.groupBy(queue, ({ kind, state }) => `${kind} ${state}`);
  return [...groups.values()].flatMap((rows) => {
    const value = rows.reduce((sum, { count }) => sum + count, 0);
    return rows.slice(0, 1).map(({ kind, state }) => ({ labels: { kind, state }, value }));
  });
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/**
 * One metric as Prometheus reads it; the library's own counters take ten times as long. The end of a name says its kind
 * and unit: `_total` is a counter, `_seconds` is given in milliseconds.
 */
export function metricText(name: string, help: string, shown: number | readonly Sample[]): string {
  const isCounter = name.endsWith("_total");
  const whole = `fintoro_mirror_${name}`;
  const perUnit = name.includes("_seconds") ? 1000 : 1;
  const samples = typeof shown === "number" ? [{ labels: {}, value: shown }] : shown;
  const lines = samples.map(({ labels, value }) => `${whole}${labelsText(labels)} ${value / perUnit}`);
  const head = `# HELP ${whole} ${isCounter ? "Since the start: " : ""}${help}`;
  return [head, `# TYPE ${whole} ${isCounter ? "counter" : "gauge"}`, ...lines, ""].join("\n");
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", '"': '\\"', "\n": "\\n" };

function labelsText(labels: Sample["labels"]): string {
  const pairs = Object.entries(labels).map(([name, value]) => {
    return `${name}="${value.replaceAll(/[\\"\n]/g, (one) => escapes[one] ?? one)}"`;
  });
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** Samples with one label; `usual` values are there also before they were counted. Null counts as 0. */
export function byKey(
  label: string,
  counts: Readonly<Record<string, number | null>>,
  usual: readonly string[] = [],
): Sample[] {
  const all: typeof counts = { ...Object.fromEntries(usual.map((key) => [key, 0])), ...counts };
  return Object.entries(all).map(([key, value]) => ({ labels: { [label]: key }, value: value ?? 0 }));
}
