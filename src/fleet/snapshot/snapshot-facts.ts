import { dayMs, hourMs, isoOrNull, isoTime } from "../../base/clock.ts";
import { HandOverCounts } from "../../state/as-of/hand-overs.ts";
import { fileKinds, filedResources, PendingFiles } from "../../state/files/pending-files.ts";
import { inboxPosition, Meta, readArchivePosition } from "../../state/meta.ts";
import { Runs } from "../../state/runs.ts";
import { readyItems } from "../../state/work-item.ts";
import { readView, type CompanyStatusView } from "../../status/company-view.ts";
import { openConditions, type NamedCondition } from "../../status/conditions.ts";
import { Changes } from "../../store/apply/change-log.ts";
import { serviceKey, type ServiceNote } from "../../status/event-status.ts";
import type { CompanySettings } from "../../store/mirror-files.ts";
import type { Db } from "../../store/database.ts";
import type { MirrorRadar } from "../postgres/tables/radar-view.ts";
import { lastFailedStart } from "../../sync/run/begin-run.ts";
import { readProof } from "../../verify/findings.ts";

/** How far a mirror is. Where it is as far as its published snapshot, another one would show nothing new. */
export type MirrorPosition = ReturnType<typeof readMirrorPosition>;

/** Of a mirror that nothing was read into. */
export const beginning: MirrorPosition = {
  seq: 0,
  inbox_seq: 0,
  last_run: null,
  failed_start: null,
  files_head: null,
};

/** Reads a few small facts, also beside a running writer. */
export function readMirrorPosition(db: Db) {
  const [meta, runs] = [new Meta(db), new Runs(db)];
  const run = runs.lastEnded();
  return {
    seq: new Changes(db).lastSeq(),
    /** Of the last delivery that was taken from the fleet's inbox; 0: none. */
    inbox_seq: inboxPosition(meta),
    /** The last run that ended, its time ISO; quick runs are none. Null: none. */
    last_run: run && { id: run.id, outcome: run.outcome, finished_at: run.finishedAt },
    /** Why no run can begin, or the outcome of one that failed before it began to write; another like it is nothing new. */
    failed_start: impediment(db)?.state ?? lastFailedStart(meta)?.outcome ?? null,
    /** The hash of the last line of the manifest of files; null: it has none. */
    files_head: readArchivePosition(db)?.head ?? null,
  };
}

/** What a snapshot says of its mirror, so that nobody has to fetch it for `fleet status`. Times are ISO. */
export type SnapshotSummary = ReturnType<typeof readSummary>;

/**
 * Reads the summary of a mirror, or of a copy of one, for which so many requests were sent in the last hours.
 *
 * @param oldestMs since when everything was read; null: not known
 */
export function readSummary(
  db: Db,
  scope: CompanySettings,
  hours: RequestHours,
  oldestMs: number | null,
  nowMs: number,
) {
  const [read, noted] = [readView(db, scope, nowMs), impediment(db)];
  const view = { ...read, service: { ...read.service, state: noted?.state ?? read.service.state } };
  const requests = Object.values(hours).reduce((sum, count) => sum + count, 0);
  const message = `the service has not been reached yet: ${noted?.message}`;
  const away: NamedCondition = { kind: "failed", subject: "reading", blocks: false, message };
  const open = openConditions({ ...view, limits: { freshForMs: Infinity, outageLimitMs: Infinity } }, nowMs);
  const conditions = open.filter(({ kind }) => kind !== "stale");
  if (noted?.state === "unavailable") conditions.push(away);
  return {
    /** When the last run began that read all that the config asks for; null: none did. */
    whole_at: isoOrNull(view.wholeRunMs),
    /** Reads that were to be made when the snapshot was: how far a run under way has come. */
    reads_waiting: readyItems(view.queue),
    files: new PendingFiles(db).counts(filedResources(scope.resources, fileKinds(scope.config))),
    /** Requests in the day before the snapshot. Of the mirror alone: those of runs, without those for events. */
    day_requests: Math.max(new Runs(db).requestsSince(isoTime(nowMs - dayMs)), requests),
    /** What was wrong, without what depends on the time: that is judged when somebody asks. */
    conditions,
    radar: readRadar(db, scope, view, conditions, oldestMs),
  };
}

function readRadar(
  db: Db,
  { company: { webhook, token }, declaration, files }: CompanySettings,
  { lastRun, events, service, sweptMs, wholeRunMs }: CompanyStatusView,
  conditions: readonly NamedCondition[],
  oldestMs: number | null,
): MirrorRadar {
  const has = (kind: NamedCondition["kind"]) => conditions.some((one) => one.kind === kind);
  const received = events.lastReceivedMs === null ? "no event yet" : "receives";
  const fault = tokenFaults[service.state] ?? tokenFaults[lastRun?.outcome ?? ""];
  const tried = fault ?? (lastRun === null ? "untried" : "accepted");
  const months = new HandOverCounts().read(db, declaration);
  const changed = months.reduce((sum, one) => sum + one.changed, 0);
  const sinceMs = Math.min(oldestMs ?? Infinity, ...Object.values(sweptMs).map((ms) => ms ?? -Infinity));
  const isReceiving = webhook.secrets.length > 0;
  const proof = readProof(files.verified, db);
  const radar: Omit<MirrorRadar, "needs_someone"> = {
    token: token.known ? tried : "missing",
    webhook: !isReceiving ? "off" : has("subscription") ? "differs" : has("gap") ? "gap" : received,
    handed_over: months[0] ? { ...months[0], changed } : null,
    read_since: wholeRunMs !== null && Number.isFinite(sinceMs) ? isoTime(sinceMs) : null,
    verified_at: proof?.match ? proof.at : null,
  };
  return { needs_someone: needsSomeone(radar), ...radar };
}

export function needsSomeone({ token, webhook, handed_over: month }: Omit<MirrorRadar, "needs_someone">) {
  const isWebhookWrong = webhook === "differs" || webhook === "gap";
  return token !== "accepted" || isWebhookWrong || (month !== null && month.changed > 0);
}

const tokenFaults: Readonly<Record<string, MirrorRadar["token"]>> = {
  unauthenticated: "refused",
  identity: "other company's",
};

/** Runs wait while the token is refused, and the first one while the service is away: the event worker notes it. */
function impediment(db: Db): ServiceNote | null {
  const note = new Meta(db).get(serviceKey) as ServiceNote | null;
  const isNew = note?.state === "unavailable" && new Runs(db).lastEnded() === null;
  return note && (note.state in tokenFaults || isNew) ? note : null;
}

/** How many requests were sent for a company in each of the last hours, as `2026-11-23T15`; by clocks of nodes. */
export type RequestHours = Readonly<Record<string, number>>;

/** Adds requests that were sent just now, and leaves out hours that ended a day ago. Pure. */
export function addRequests(hours: RequestHours, nowMs: number, requests: number): RequestHours {
  const [now = "", oldest = ""] = [nowMs, nowMs - dayMs + hourMs].map((ms) => isoTime(ms).slice(0, 13));
  const added = Object.entries({ ...hours, [now]: (hours[now] ?? 0) + requests });
  return Object.fromEntries(added.filter(([hour, count]) => hour >= oldest && hour <= now && count > 0));
}
