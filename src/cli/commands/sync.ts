import { abortAfter, eitherSignal } from "../../base/cancellation.ts";
import { isoTime } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import { makeFolders } from "../../base/files/atomic-file.ts";
import type { Log } from "../../base/logger.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { counted, formatCount, formatDuration } from "../../base/units.ts";
import { selectResources, withChangedToken } from "../../config/companies.ts";
import type { Config } from "../../config/config.ts";
import { sourcesOf, type Resource } from "../../connector/resource.ts";
import { askDaemon, formatSyncOptions } from "../../host/commands.ts";
import type { ProgressView } from "../../log/progress.ts";
import { createCompanyRun, type RunRequest, type Scrubbing } from "../../runs/company-run.ts";
import { createRunPlaces } from "../../runs/run-queue.ts";
import { connectService } from "../../runs/service-connection.ts";
import { openMirror } from "../../state/mirror.ts";
import { changesOf } from "../../state/sweeps.ts";
import { shardText, type Shard } from "../../status/shards.ts";
import { guarded } from "../../store/database.ts";
import { createLogWatch } from "../../store/write-ahead-log.ts";
import { lockHolder, takeWriterLock, type WriterLock } from "../../store/writer-lock.ts";
import {
  emptySummary,
  isWorthPublishing,
  notBegun,
  type RunSummary,
} from "../../sync/context/run-summary.ts";
import { companyScopes, type CompanyScope } from "../mirror/company-scope.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandRun } from "../program/command-table.ts";
import { worstOutcome, type CommandOutcome } from "../program/exit-code.ts";
import { letHeapGrow } from "../program/own-process.ts";
import { dryRun } from "../runs/dry-run.ts";
import { afterRun, filesOne } from "./output/after-run-command.ts";
import { sendAlerts } from "./upkeep/alerts.ts";

export const syncCommand: CommandRun<"sync"> = async (context, { args, options, config }) => {
  const { shard } = options;
  const { scopes, refused } = scopesWithToken(context, config, shard);
  const { declaration } = context.connector;
  const resources = selectResources(declaration, config.resources, args);
  warnOfOwned(context, args, resources);
  const { full, quick, maxRequests: mostRequests, maxDuration, allowMassDelete, acceptIdentity } = options;
  if (quick && declaration.resources.some((one) => changesOf(one) !== null))
    throw new MirrorError("usage", `--quick is not for ${declaration.title}: its lists show what changed`, {
      hint: "A usual run reads only that, and takes about as few requests: leave --quick out.",
    });
  const scrub = options.scrub && !quick;
  if (shard && scopes.length + refused.length === 0)
    context.log.info(`shard ${shardText(shard)} has no companies: there is nothing to do`);
  const closed = maxDuration === undefined ? new AbortController().signal : abortAfter(maxDuration);
  if (options.dryRun) return dryRun(context, config, shard, { resources, full, scrub, mostRequests, closed });
  if (resources.length === 0)
    throw new MirrorError("usage", "no resource is left to sync: see include and exclude");
  const untilMs = maxDuration === undefined ? null : context.clock.nowMs() + maxDuration;
  const flags = { full, quick, allowMassDelete, acceptIdentity, scrub };
  const request = { resources, ...flags, mostRequests, closed, shard: shard ? shardText(shard) : null };
  const failures: CommandOutcome[] = [];
  const one = new Semaphore(1);
  const publish = async (scope: CompanyScope, runGoesOn = false) => {
    using _ = await one.acquire();
    // Exports take more; a report is made by SQLite.
    letHeapGrow(!runGoesOn && config.exports.length > 0);
    failures.push(...(await afterRun(scope)));
    letHeapGrow(false);
  };
  letHeapGrow(false);
  const summaries = await runAll(context, scopes, { request, untilMs }, publish);
  await context.showing(async (show) => {
    for (const scope of scopes) {
      const { name } = scope.company;
      const summary = summaries.get(name);
      show(() => `${name}: making the report and what else follows a run`);
      if (summary && isWorthPublishing(summary)) await publish(scope);
    }
  });
  // Files come last of all: they keep nobody waiting.
  const hasFiles = !quick && (config.files.pdf || config.files.attachments);
  for (const scope of hasFiles ? scopes : []) {
    const { outcome = "failed", requests } = summaries.get(scope.company.name) ?? {};
    const most = mostRequests === undefined ? undefined : mostRequests - (requests?.total ?? 0);
    const isOver = closed.aborted || context.signal.aborted || (most ?? 1) <= 0;
    if (["complete", "partial"].includes(outcome) && !isOver)
      failures.push((await filesOne(scope, closed, most)) ?? "complete");
  }
  const outcomes = [...summaries.values()].map((summary): CommandOutcome => summary.outcome);
  for (const [company, summary] of refused) summaries.set(company, summary);
  await sendAlerts(context, config, summaries);
  // Printed last: a reader that closes stdout (`| head`) ends the program, when everything above is done.
  await printSummaries(context, summaries);
  const outcome = worstOutcome([...outcomes, ...failures, ...refused.map(() => "partial" as const)]);
  // Of one company: the exit code of its error, as every command has it.
  const [sole, ...others] = summaries.values();
  return outcome === "failed" && sole?.error && others.length === 0 ? { kind: sole.error.kind } : outcome;
};

/** Warns of named tables whose records come with others, of which none is read. */
function warnOfOwned({ log }: CommandContext, named: readonly string[], resources: readonly Resource[]) {
  const owned = resources.filter(({ name, list }) => named.includes(name) && list.kind === "owned");
  for (const resource of owned) {
    const owners = sourcesOf(resource);
    if (resources.some(({ name }) => owners.includes(name))) continue;
    const hint = `Name those to be read, too: ${owners.join(", ")}`;
    log.warn(`${resource.name} come with their owners, of which none is named: this run reads none of them`, {
      hint,
    });
  }
}

/**
 * The companies that can be read, and a summary of each whose token is missing: that concerns no other company.
 * @throws MirrorError `config` where none can be read
 */
function scopesWithToken(context: CommandContext, config: Config, shard: Shard | undefined) {
  const chosen = companyScopes(context, config, shard);
  const scopes = chosen.filter(({ company }) => company.token.known);
  if (scopes.length === 0) chosen[0]?.company.token.reveal();
  const refused = chosen.flatMap(({ context: { clock }, company: { name, token } }) => {
    const problem = token.problem && new MirrorError("config", token.problem);
    return problem ? [[name, notBegun(clock, isoTime(clock.nowMs()), problem)] as const] : [];
  });
  return { scopes, refused };
}

/** Makes the runs while their progress is shown. `publish` is called when what lists show is in, and before each scrub. */
async function runAll(
  context: CommandContext,
  scopes: readonly CompanyScope[],
  asked: Pick<RemoteRun, "request" | "untilMs">,
  publish: (scope: CompanyScope, runGoesOn?: boolean) => Promise<void>,
): Promise<Map<string, RunSummary>> {
  const places = createRunPlaces();
  const views = scopes.map((): (() => ProgressView | null) => () => null);
  const runOne = async (scope: CompanyScope, index: number) => {
    using place = await places.take();
    const onListed: RemoteRun["onListed"] = async (_, isBeforeScrub) =>
      isBeforeScrub ? place?.beginScrub(() => publish(scope), context.signal) : publish(scope, true);
    const startedAt = isoTime(context.clock.nowMs());
    const show: RemoteRun["show"] = (view) => (views[index] = view);
    const summary = await syncCompany({ ...asked, scope, startedAt, show, onListed });
    return [scope.company.name, summary] as const;
  };
  const read = () => views.flatMap((view) => view() ?? []);
  return new Map(await context.progress(read, () => Promise.all(scopes.map(runOne))));
}

export interface RemoteRun {
  readonly scope: CompanyScope;
  readonly request: RunRequest;
  readonly onListed: NonNullable<Scrubbing["onListed"]>;
  /** Epoch milliseconds when `request.closed` aborts; null: never. */
  readonly untilMs: number | null;
  readonly startedAt: string;
  /** Takes what gives the run's progress; null before it begins. */
  readonly show: (view: () => ProgressView | null) => void;
}

/**
 * Makes the run of one company. It takes the writer lock; where a daemon holds the lock, the daemon makes the run,
 * and its summary is given. Never rejects with a MirrorError: the summary names it.
 */
async function syncCompany(run: RemoteRun): Promise<RunSummary> {
  try {
    return await lockOrFollow(run);
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    return notBegun(run.scope.context.clock, run.startedAt, error);
  }
}

/** The process that holds the lock may just be starting or ending: it is asked again. */
const againMs = 200;
const mostAgain = 10;

async function lockOrFollow(run: RemoteRun): Promise<RunSummary> {
  const { context, config, files } = run.scope;
  guarded(config.dataDir, () => makeFolders(config.dataDir));
  for (let tries = 1; ; tries++) {
    const lock = tryLock(files.lock, tries);
    if (lock) return performWithToken(run, lock).finally(() => lock.release());
    const summary = lockHolder(files.lock)?.command === undefined ? null : await followRemoteSync(run);
    if (summary) return summary;
    await context.clock.sleep(againMs, context.signal);
  }
}

/** The lock; null while a daemon holds it, or for a few tries nobody that is known. Throws otherwise. */
function tryLock(file: string, tries: number): WriterLock | null {
  try {
    return takeWriterLock(file, "sync");
  } catch (error) {
    const holder = lockHolder(file)?.command;
    const isLocked = error instanceof MirrorError && error.kind === "locked";
    if (isLocked && (holder === "serve" || (holder === undefined && tries <= mostAgain))) return null;
    throw error;
  }
}

/** Makes the run, and once more with a token that came into its file since, where the service refused the old one. */
async function performWithToken(asked: RemoteRun, lock: WriterLock): Promise<RunSummary> {
  const summary = await performLocked(asked, lock);
  const company = summary.outcome === "unauthenticated" ? withChangedToken(asked.scope.company) : null;
  if (!company) return summary;
  const { context } = asked.scope;
  context.onSecrets([company.token.reveal()]);
  context.log.info(`${company.name}: the file of the token has changed: going on with the new token`);
  return performWithToken({ ...asked, scope: { ...asked.scope, company } }, lock);
}

async function performLocked(asked: RemoteRun, lock: WriterLock): Promise<RunSummary> {
  const { scope, request, show, onListed } = asked;
  const { context, declaration, files } = scope;
  const { clock, log, signal } = context;
  await using service = connectService(context, scope, { limits: request });
  const opening = { clock, log, signal: eitherSignal(signal, request.closed), lock };
  using mirror = await openMirror(files.mirror, declaration, opening);
  const run = createCompanyRun(context, scope, mirror, service.transport, service.rateLimiter, request);
  show(() => run.progress());
  const logWatch = createLogWatch(files.mirror, log, () => clock.nowMs());
  return await run.perform(signal, { onListed }).finally(() => logWatch.look());
}

/** After so many lines of the daemon, one a second, a run that still waits for another one is mentioned. */
const mostSilent = 3;

/**
 * Has the daemon that holds the mirror make the run, and waits for its summary. Null: the daemon has ended, or does not
 * take commands yet. Throws MirrorError `usage` for what the daemon cannot do.
 */
export async function followRemoteSync(run: RemoteRun): Promise<RunSummary | null> {
  const { request, untilMs, scope } = run;
  const { log, signal } = scope.context;
  const { name } = scope.company;
  const early = summaryIfEnded(run);
  if (early) return early;
  const over = new AbortController();
  let latest: ProgressView | null | undefined;
  let waited = 0;
  const onProgress = (progress: ProgressView | null) => {
    if (latest === undefined)
      log.info(`${name}: the daemon holds the mirror and makes this run; following it`);
    latest = progress;
    // The daemon itself ends a run that has begun.
    if (progress) return;
    if (request.closed.aborted) over.abort();
    else if (waited++ === mostSilent)
      log.info(`${name}: the daemon is busy with another run; this one comes next`);
  };
  run.show(() => latest ?? null);
  const command = { kind: "sync", options: formatSyncOptions(request, untilMs) } as const;
  try {
    const until = AbortSignal.any([signal, over.signal]);
    return (await askDaemon(scope.files.socket, command, until, onProgress)) as RunSummary;
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const { kind, message } = error;
    if (kind === "database") throw new MirrorError("usage", message);
    if (kind === "locked" && latest !== undefined && !request.closed.aborted)
      log.warn(`${name}: the daemon is gone; going on without it`);
    if (kind === "stopped" && signal.aborted)
      log.info(
        `${name}: no longer followed; the daemon ${latest ? "continues the run" : "does not begin it"}`,
      );
  }
  return summaryIfEnded(run);
}

/** The summary of a run that ended before the daemon gave one; null: it has not ended. */
function summaryIfEnded({ scope, request, startedAt }: RemoteRun): RunSummary | null {
  const { clock, signal } = scope.context;
  if (signal.aborted) return emptySummary(clock, startedAt, "interrupted");
  return request.closed.aborted ? emptySummary(clock, startedAt, "stopped") : null;
}

/**
 * Prints the summaries by company, and logs everything that is incomplete, whatever stdout is used for. A quiet command
 * prints those only that are not complete.
 */
async function printSummaries(context: CommandContext, summaries: ReadonlyMap<string, RunSummary>) {
  for (const [company, summary] of summaries) logTroubles(context.log, company, summary);
  const shown = [...summaries].filter(([, { outcome }]) => !context.globals.quiet || outcome !== "complete");
  const lines = shown.flatMap(([company, summary]) => summaryLines(company, summary));
  await context.print({ companies: Object.fromEntries(summaries) }, lines);
}

function logTroubles(log: Log, company: string, summary: RunSummary): void {
  for (const { resource, message, hint, kind } of summary.troubles)
    log.warn(`${company}.${resource}: ${message}`, { kind, hint });
  if (summary.error) {
    const { message, kind, hint, request_id } = summary.error;
    log.error(`${company}: ${message}`, { kind, hint, request_id });
  }
  // Those of a complete run are not due yet: records of events are read once more after a minute.
  const pending = sumOf(summary, "pending");
  if (pending > 0 && summary.outcome !== "complete") log.warn(`${company}: ${leftText(pending)}`);
}

function leftText(pending: number): string {
  return `${counted(pending, "request is", "requests are")} left for the next run`;
}

function summaryLines(company: string, summary: RunSummary): string[] {
  const tookMs = Date.parse(summary.finished_at) - Date.parse(summary.started_at);
  const resumed = summary.resumed ? ", resumed after an interruption" : "";
  const requests = counted(summary.requests.total, "request");
  const listed = counted(sumOf(summary, "listed"), "record");
  const head = `${company}: ${summary.outcome} in ${formatDuration(tookMs)}, ${requests}, ${listed} listed${resumed}`;
  const { scrub } = summary;
  const lines = Object.entries(summary.resources).flatMap(([name, counts]) => {
    const parts = (["inserted", "updated", "hydrated", "deleted", "failed"] as const)
      .filter((key) => counts[key] > 0)
      .map((key) => `${counts[key]} ${key}`);
    if (counts.provisional > 0) parts.push(`${counts.provisional} without their detail`);
    return parts.length === 0 ? [] : [`  ${name.padEnd(28)} ${parts.join(", ")}`];
  });
  const pending = sumOf(summary, "pending");
  if (pending > 0) lines.push(`  ${leftText(pending)}`);
  if (lines.length === 0 && summary.outcome === "complete") lines.push("  nothing changed");
  if (scrub && scrub.planned > 0) {
    const rest = scrub.left > 0 ? `; ${formatCount(scrub.left)} are left for another run` : "";
    const reads = `${formatCount(scrub.read)} of ${formatCount(scrub.total)} re-read`;
    lines.push(`  scrub: ${reads}, ${formatCount(scrub.changed)} changed${rest}`);
  }
  return [head, ...lines];
}

function sumOf({ resources }: RunSummary, key: "listed" | "pending"): number {
  return Object.values(resources).reduce((sum, counts) => sum + counts[key], 0);
}
