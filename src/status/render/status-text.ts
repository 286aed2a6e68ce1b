import { counted, formatAge, formatDuration, formatSize } from "../../base/units.ts";
import { skewText, skewWarnMs } from "../../http/clock-skew.ts";
import type { BudgetView, MonthView } from "../../rate-limit/permit.ts";
import { alignedColumn, shortText, terminalText, wrappedLine } from "../../base/terminal-text.ts";
import type { readSizes } from "../../state/retention/sizes.ts";
import { longLogBytes, longLogText } from "../../store/write-ahead-log.ts";
import { scrubText } from "../../sync/plan/estimate.ts";
import type { Proof } from "../../verify/findings.ts";
import { nameOfTarget, readyItems } from "../../state/work-item.ts";
import type { Health, ResourceHealth } from "../mirror-health.ts";
import { lowSpaceBytes } from "../conditions.ts";
import type { EventStatus } from "../event-status.ts";
import type { StepStatus } from "../after-run-record.ts";
import { targetsLeft } from "../alerts/incidents.ts";
import type { CompanyStatus } from "../read-status.ts";
import { earliest } from "../../state/sweeps.ts";

/** The status of one company as lines for people, as wide as the terminal; with null as wide as they are. Pure. */
export function statusLines(
  company: string,
  status: CompanyStatus,
  nowMs: number,
  width: number | null = null,
): string[] {
  const lines = allLines(company, status, nowMs, width);
  return width === null ? lines : lines.flatMap((line) => wrappedLine(line, width));
}

function allLines(company: string, status: CompanyStatus, nowMs: number, width: number | null): string[] {
  const { health, writer, budget, plan } = status;
  if (!health) return [`${company}: no mirror yet. Run \`fintoro-mirror sync\`.`];
  return [
    `${company}: ${headline(status, nowMs)}`,
    ...status.conditions.flatMap(({ kind, subject, message }) => {
      const hasOwnLines =
        kind === "partial" || kind === "held" || (kind === "failed" && subject === "after_run");
      return hasOwnLines ? [] : [`  ! ${message}`];
    }),
    ...(writer ? [`  being written by ${writer}`] : []),
    ...resourceLines(health.resources, nowMs, width),
    ...queueLines(health, writer),
    ...(budget ? [budgetLine(budget)] : []),
    ...(budget?.month ? [monthLine(budget.month)] : []),
    ...(plan ? [`  a run: ${plan.lists.requests} requests for lists; scrub: ${scrubText(plan.scrub)}`] : []),
    ...(health.wal_bytes >= longLogBytes ? [`  ! ${longLogText(health.wal_bytes)}`] : []),
    ...sizeLines(health.sizes),
    ...troubleLines(health),
    ...(status.verified ? [verifiedLine(status.verified, nowMs)] : []),
    ...(status.events ? eventLines(status.events, nowMs) : []),
    ...runLines(health, status.running, nowMs),
    ...fileLines(status),
    ...status.after_run.map((step) => stepLine(step, nowMs)),
    ...targetsLeft(status.alerts).map(alertLine),
  ];
}

function alertLine({ target, count, attempts, error }: ReturnType<typeof targetsLeft>[number]): string {
  const why = error === null ? "" : `, after ${counted(attempts, "attempt")}: ${terminalText(error, 200)}`;
  return `  ! ${counted(count, "alert")} not delivered to ${target}${why}`;
}

function headline({ freshness: { oldest }, health }: CompanyStatus, nowMs: number): string {
  const sumOf = (key: "live" | "provisional") =>
    health?.resources.reduce((sum, resource) => sum + resource[key], 0) ?? 0;
  const missing = sumOf("provisional");
  const details = missing > 0 ? `${missing} of them without their detail, ` : "";
  const fresh = oldest === null ? "not everything was read whole yet" : `read whole ${ago(oldest, nowMs)}`;
  return `${sumOf("live")} records, ${details}${fresh}`;
}

function sizeLines({ inbox, change_log: log, runs, ...sizes }: ReturnType<typeof readSizes>) {
  const { database_bytes: all, free_bytes: free, wal_bytes: wal, disk_free_bytes: left } = sizes;
  const files = `${formatSize(all)} (${formatSize(free)} of it free), write-ahead log ${formatSize(wal)}`;
  const parts = `${formatSize(log.bytes)} of changes, ${formatSize(inbox.bytes)} of events, ${formatSize(runs.bytes)} of runs`;
  const disk = `  ${left < lowSpaceBytes ? "! " : ""}disk: ${formatSize(left)} free beside the mirror`;
  return [`  size: ${files}; of these about ${parts}`, disk];
}

/** None where there are no files, and none are asked for. */
export function fileLines({ files }: Pick<CompanyStatus, "files">): string[] {
  if (!files || files.stored + files.pending + files.problems === 0) return [];
  const parts = [
    `${counted(files.stored, "file")} stored, ${formatSize(files.stored_bytes)}`,
    ...(files.pending > 0 ? [`those of ${files.pending} records still to be fetched`] : []),
    ...(files.problems > 0 ? [`! ${files.problems} records without a usable file`] : []),
  ];
  return [`  files: ${parts.join("; ")}`];
}

function queueLines({ queue }: Health, writer: string | null): string[] {
  const ready = readyItems(queue);
  const waits = counted(ready, "request waits", "requests wait");
  return ready === 0 ? [] : [`  ${waits} for ${writer ? "a turn" : "the next run"}`];
}

/** A difference that is found is a mark until the next `verify`: only that shows that it is gone. */
function verifiedLine(proof: Proof, nowMs: number): string {
  const { at, by, match, differences, details_compared: details, details_total: total } = proof;
  const since = proof.resumed_since ? ` since ${proof.resumed_since}` : "";
  const compared = `${details} of ${total} details compared${since}`;
  if (match) return `  proved equal ${ago(at, nowMs)} by \`${by}\`, ${compared}`;
  const found =
    differences > 0
      ? counted(differences, "record that differs", "records that differ")
      : `${counted(proof.uncompared, "thing")} that could not be compared`;
  return `  ! \`${by}\` found ${found} ${ago(at, nowMs)}, ${compared}`;
}

function monthLine({ month, used, limit, kept, left }: MonthView): string {
  return `  ${month}: ${used} of ${limit} calls used; ${left} left for runs, ${kept} kept for events`;
}

function budgetLine({ limit, remaining, waitMs }: BudgetView): string {
  if (limit === null) return "  budget: not known yet";
  const wait = waitMs > 0 ? `, next permit in ${formatDuration(waitMs)}` : "";
  return `  budget: ${remaining ?? "?"} of ${limit} requests left in this window${wait}`;
}

function troubleLines({ resources, setAside, quarantine, ...fields }: Health): string[] {
  const troubles = resources.flatMap((one) => one.troubles);
  const others = troubles.filter(({ kind }) => kind !== "quarantined" && kind !== "dead");
  const problems = [
    ...others.map(({ resource, message, hint }) => `${resource}: ${message}${hint ? ` (${hint})` : ""}`),
    ...setAside.slice(0, mostSetAside).map(({ resource, target, attempts, reason }) => {
      const asked = attempts === 1 ? "" : ` after ${attempts} attempts`;
      return `${resource}: ${nameOfTarget(target)} is set aside${asked} until the next run: ${reason}`;
    }),
    ...(setAside.length > mostSetAside
      ? [`${setAside.length - mostSetAside} more are set aside (--json)`]
      : []),
    ...quarantine.map(
      (one) => `${one.resource} ${one.recordId ?? "without id"} in quarantine: ${one.reason}`,
    ),
  ];
  const unknown = "the service sends a field that the connector does not know";
  return [
    ...problems.map((line) => `  ! ${line}`),
    ...fields.newColumns.map((column) => `  new column ${column}: ${unknown}`),
    ...fields.missingFields.map((field) => `  ${field} is missing from answers, although it is required`),
    ...fields.unkeptFields.map((field) => `  ${field} is in lists only and is not kept`),
    ...fields.uncomparedFields.map(
      (field) => `  ${field} differs between lists and details: changes of it alone are found by the scrub`,
    ),
  ];
}

const mostSetAside = 100;

function runLines({ runs }: Health, running: CompanyStatus["running"], nowMs: number): string[] {
  return runs.slice(0, 3).map(({ id, mode, startedAt, finishedAt, outcome }, index) => {
    const mayRun = running === "unknown" && index === 0;
    const open = running === id ? "running" : mayRun ? "running, or cut off" : "cut off";
    const took = finishedAt ? ` in ${formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))}` : "";
    return `  run ${id} (${mode}) ${ago(startedAt, nowMs)}: ${outcome ?? open}${took}`;
  });
}

function stepLine(
  { step, outcome, at, duration_ms: tookMs, error, last_success_at: last }: StepStatus,
  nowMs: number,
) {
  if (outcome === null) return `  ${step}: not made yet`;
  const took = `${ago(at, nowMs)} in ${formatDuration(tookMs)}`;
  if (outcome !== "failed") return `  ${step}: ${outcome} ${took}`;
  return `  ! ${step}: failed ${took}, last made ${ago(last, nowMs)}: ${error}`;
}

/** What `status` prints of events; nothing where none was ever received and no receiver ever ran. Pure. */
export function eventLines(events: EventStatus, nowMs: number): string[] {
  const commands = events.orders.map((one) => {
    const sent = ago(one.askedAt, nowMs);
    return `  command: ${one.kind} for process ${one.pid}, sent ${sent}: ${one.state}`;
  });
  if (events.listeningSince === null && events.lastReceivedAt === null) return commands;
  return [
    ...waitingLines(events, nowMs),
    ...oddLines(events),
    ...receiverLines(events, nowMs),
    ...(events.listening ? daemonLines(events, nowMs) : []),
    ...commands,
  ];
}

function daemonLines(events: EventStatus, nowMs: number): string[] {
  const { refused, refused_elsewhere: elsewhere, clock_skew_seconds: skew, service } = events;
  const counts = [...Object.entries(refused), ...Object.entries(elsewhere)];
  const list = counts.map(([reason, count]) => `${count} ${reason}`).join(", ");
  const mark = skew !== null && Math.abs(skew * 1000) >= skewWarnMs ? "! " : "";
  const why = service === null || service.message === null ? "" : `: ${service.message}`;
  const dropped = events.dropped_connections;
  return [
    ...(counts.length > 0 ? [`  deliveries refused since the start: ${list}`] : []),
    ...(skew === null ? [] : [`  ${mark}clock: ${skewText(skew * 1000)}`]),
    ...(service ? [`  service: ${service.state} for ${formatAge(service.since, nowMs)}${why}`] : []),
    ...(dropped > 0 ? [`  connections dropped since the start: ${dropped}; see docs/security.md`] : []),
  ];
}

function waitingLines(events: EventStatus, nowMs: number): string[] {
  const { counts, waitingSince: since, lastReceivedAt: lastAt, stuck } = events;
  const last = lastAt === null ? "none was ever received" : `the last was received ${ago(lastAt, nowMs)}`;
  const waits = counted(counts.waiting ?? 0, "waits", "wait");
  const waiting = since === null ? "none waits" : `${waits}, the oldest received ${ago(since, nowMs)}`;
  const given = `${counted(stuck, "event waits", "events wait")} for records that could not be read (see above)`;
  return [`  events: ${waiting}; ${last}`, ...(stuck > 0 ? [`  ! ${given}`] : [])];
}

function oddLines({ counts, unknownTypes }: EventStatus): string[] {
  const { unknown = 0, unreadable = 0 } = counts;
  const types = unknownTypes
    .map((one) => `${shortText(one.type ?? "without a type")} (${one.count})`)
    .join(", ");
  const events = counted(unknown, "event of no known record is", "events of no known record are");
  const [one, many] = ["signed delivery that is no event is", "signed deliveries that are no events are"];
  return [
    ...(unknown > 0 ? [`  ${events} kept: ${types}`] : []),
    ...(unreadable > 0 ? [`  ${counted(unreadable, one, many)} kept`] : []),
  ];
}

function receiverLines(events: EventStatus, nowMs: number): string[] {
  const { listening, listeningSince, gaps, refusing } = events;
  if (listeningSince === null) return ["  receiver: none has run yet"];
  const open = gaps.find(({ to }) => to === null);
  const state =
    listening && refusing !== null
      ? "listening, but every delivery is refused"
      : listening
        ? `listening for ${formatAge(listeningSince, nowMs)}`
        : `none is listening${open ? `, for ${formatAge(open.from, nowMs)}: ${causes[open.cause]}` : ""}`;
  return [`  receiver: ${state}${pastGaps(events)}`];
}

const causes = {
  stopped: "serve was stopped",
  killed: "serve was killed",
  silent: "serve is there, and writes nothing",
  refused: "serve refused every delivery, and was stopped",
};

function pastGaps({ gaps }: EventStatus): string {
  const lengths = gaps.flatMap(({ from, to }) => (to === null ? [] : [Date.parse(to) - Date.parse(from)]));
  if (lengths.length === 0) return "";
  const longest = formatDuration(Math.max(...lengths));
  return `; ${counted(lengths.length, "gap")} in the last 7 days, the longest ${longest}`;
}

/** One column of the table: what a resource has there; empty: nothing to say. */
type StatusColumn = readonly [
  head: string,
  isNumber: boolean,
  cell: (resource: ResourceHealth, nowMs: number) => string,
];

const columns: readonly StatusColumn[] = [
  ["table", false, ({ name }) => name],
  [
    "rows",
    true,
    ({ live, expected }) => (expected !== null && live < expected ? `${live} of ${expected}` : `${live}`),
  ],
  ["no detail", true, ({ provisional }) => countText(provisional)],
  ["unread", true, ({ parents_never_read: unread }) => countText(unread)],
  ["deleted", true, ({ deleted }) => countText(deleted)],
  ["read whole", false, ({ left_out: isOut, sweptAt }, nowMs) => (isOut ? "left out" : ago(sweptAt, nowMs))],
  ["stalest", false, stalestText],
];

function countText(count: number): string {
  return count > 0 ? String(count) : "";
}

function stalestText({ oldest_detail_at: detail, oldest_parent_at: parent }: ResourceHealth, nowMs: number) {
  const stalest = earliest([detail, parent].filter((at) => at !== null));
  return stalest === null ? "" : formatAge(stalest, nowMs);
}

/** The tables of a mirror, aligned; without as many of the last columns as the terminal is too narrow for. Pure. */
export function resourceLines(resources: readonly ResourceHealth[], nowMs: number, width: number | null) {
  const filled = columns
    .map(([head, isNumber, cell]) => ({ head, isNumber, cells: resources.map((one) => cell(one, nowMs)) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""));
  const padded = filled.map(({ head, isNumber, cells }) => alignedColumn([head, ...cells], isNumber));
  const lineOf = (row: number, count: number) =>
    ["", ...padded.slice(0, count).map((column) => column[row])].join("  ").trimEnd();
  const rows = ["head", ...resources].map((_, row) => row);
  let count = padded.length;
  while (count > 2 && rows.some((row) => lineOf(row, count).length > (width ?? Infinity))) count--;
  return rows.map((row) => lineOf(row, count));
}

/** `3m 10s ago`; `never` for null. */
function ago(iso: string | null, nowMs: number): string {
  return iso === null ? "never" : `${formatAge(iso, nowMs)} ago`;
}
