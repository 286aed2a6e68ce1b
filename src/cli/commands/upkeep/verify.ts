import { localDate, isoTime } from "../../../base/clock.ts";
import { MirrorError } from "../../../base/errors.ts";
import { Verification, comparedReads, type SampleSize } from "../../../verify/verification.ts";
import { readExisting, type CompanyScope, writeExisting } from "../../mirror/company-scope.ts";
import { exactNumbers } from "../../console/output.ts";
import { usualSample, type CommandRun } from "../../program/command-table.ts";
import { letHeapGrow } from "../../program/own-process.ts";
import { forEachCompany, type CompanyResult } from "../../runs/each-company.ts";
import { formatCount, counted, formatDuration } from "../../../base/units.ts";
import { takeWriterLock, lockHolder } from "../../../store/writer-lock.ts";
import type { ResourceCheck } from "../../../verify/local/check-locally.ts";
import type { JudgeOptions } from "../../../verify/local/judge-records.ts";
import { verifyLocally, type LocalVerification } from "../../../verify/local/repair-locally.ts";
import { terminalText } from "../../../base/terminal-text.ts";
import type { ConnectorDeclaration } from "../../../connector/connector-declaration.ts";
import type { Resource } from "../../../connector/resource.ts";
import type { ProgressView } from "../../../log/progress.ts";
import { connectService, type ServiceConnection } from "../../../runs/service-connection.ts";
import { assertBegun, periodOfMonth } from "../../../export/plan/period.ts";
import { readLog } from "../../../state/log-identity.ts";
import { assertConnector, Meta } from "../../../state/meta.ts";
import { Changes } from "../../../store/apply/change-log.ts";
import type { Mirror } from "../../../state/mirror.ts";
import { ScrubCandidates } from "../../../state/scrub-candidates.ts";
import { expectedRecords } from "../../../state/sweeps.ts";
import type { Db } from "../../../store/database.ts";
import { Records } from "../../../store/tables/stored-records.ts";
import { listRequests } from "../../../sync/plan/initial-work.ts";
import { minutesFor, minutesText } from "../../../sync/plan/estimate.ts";
import { scrubSources } from "../../../sync/plan/scrub.ts";
import {
  monthFindings,
  nameOfMirror,
  writeProof,
  verifyFindings,
  differenceCount,
  type MonthFindings,
  type VerifyFindings,
  type NamedRecords,
} from "../../../verify/findings.ts";

export const verifyCommand: CommandRun<"verify"> = async (context, { options, config }) => {
  const { repair, local, month } = options;
  const sample = options.all ? "all" : (options.sample ?? usualSample);
  const what = month === undefined ? (sample === "all" ? "--all" : `--sample ${sample}`) : `--month ${month}`;
  const by = `verify ${what}${repair ? " --repair" : ""}`;
  if (month !== undefined) assertBegun(month, localDate(context.clock.nowMs(), config.schedule.timezone));
  const verifyOne = async (scope: CompanyScope): Promise<CompanyResult> => {
    if (local) return verifyMirrorLocally(scope, repair);
    const findings = await verifyCompany(scope, { sample, repair, by, month });
    const { name } = scope.company;
    if ("month" in findings) return resultOfMonth(name, findings);
    for (const { resource, message } of findings.uncompared)
      context.log.warn(`${name}.${resource}: ${message}`);
    return resultOfFindings(name, findings);
  };
  return forEachCompany(context, config, verifyOne, { failed: { match: false } });
};

/**
 * Checks one company's mirror against itself, and repairs it if that is asked for. Sends no request.
 *
 * @throws MirrorError `database` without a mirror, `identity` for another connector's, `locked` where another process writes the one that is to be repaired
 */
async function verifyMirrorLocally(scope: CompanyScope, repair: boolean): Promise<CompanyResult> {
  const { files, context, declaration, company, resources } = scope;
  const { clock, log, signal } = context;
  await readExisting(scope, (db) => assertConnector(db, declaration));
  const selected = new Set(resources.map(({ name }) => name));
  using _ = repair ? takeWriterLock(files.lock, "verify --local --repair") : null;
  // A hundred records are in use at a time: a larger heap only keeps them longer.
  letHeapGrow(false);
  const verified = await context.showing((show) => {
    show(() => `${company.name}: checking the file`);
    const onProgress: JudgeOptions["onProgress"] = ({ resource, records }) =>
      show(() => `${company.name}: ${resource}, ${formatCount(records)} records`);
    return verifyLocally(files.mirror, declaration, { repair, clock, log, signal, selected, onProgress });
  });
  return resultOf(company.name, verified);
}

function resultOf(company: string, { found, repair, result }: LocalVerification): CompanyResult {
  const { match, records, resources, problems } = result;
  const verdict = match ? "fits together" : "is damaged";
  const head = `${company}: the mirror ${verdict}: ${formatCount(records)} records checked, no request sent`;
  const queued = repair?.queued
    ? `; the next \`sync\` reads ${formatCount(repair.queued)} of them from the service`
    : "";
  return {
    document: { local: true, ...result, ...(repair && { repair: { ...repair, found } }) },
    outcome: match ? "complete" : "difference",
    lines: [
      head,
      ...(repair ? [repairedLine(repair.repaired, queued)] : []),
      ...problems.map(({ message, hint }) => `  ${message} ${hint}`),
      ...Object.entries(resources).flatMap(([name, check]) =>
        recordLines(check).map((line) => `  ${name} ${line}`),
      ),
      ...(match || repair
        ? []
        : ["  `fintoro-mirror verify --local --repair` makes rows again from what was received"]),
    ],
  };
}

function recordLines({ missing, extra, different, unnamed }: ResourceCheck): string[] {
  return [
    ...missing.map(({ id }) => `${id} has no row`),
    ...extra.map(({ id }) => `${id} has a row without a record`),
    ...different.map(({ raw, ...one }) => differenceText({ ...one, service: raw }, "its record")),
    ...(unnamed > 0 ? [`and ${formatCount(unnamed)} more`] : []),
  ];
}

interface VerifyRequest {
  readonly sample: SampleSize;
  /** Reads again what differs. It takes the writer lock. */
  readonly repair: boolean;
  readonly by: string;
  /** Only the documents of this month, each by its detail. @default the lists, and a sample of details */
  readonly month?: string | undefined;
}

/**
 * Compares one company's mirror with the service, repairs it if that is asked for, and stores what it found for `status`.
 * @throws MirrorError `locked` where another process writes the mirror that is to be repaired; `usage` for a month where
 *   the connector names no documents of one
 */
export async function verifyCompany(scope: CompanyScope, request: VerifyRequest) {
  const { monthPackage, title } = scope.declaration;
  if (request.month !== undefined && !monthPackage)
    throw new MirrorError("usage", `${title} has no documents of a month that could be proved`, {
      hint: "`fintoro-mirror verify --all` compares every record.",
    });
  await using connection = connectService(scope.context, scope);
  // Refuses where there is no mirror yet, before anything is made.
  if (!request.repair)
    return await readExisting(scope, (db) => compare(scope, request, connection, db, null));
  const repair = (mirror: Mirror) => compare(scope, request, connection, mirror.db, mirror);
  return await writeExisting(scope, "verify --repair", repair, "the mirror that is to be repaired");
}

async function compare(
  scope: CompanyScope,
  { sample, by, month }: VerifyRequest,
  { transport, rateLimiter }: ServiceConnection,
  db: Db,
  /** Opened for writing where it is to be repaired. */
  mirror: Mirror | null,
): Promise<VerifyFindings | MonthFindings> {
  const { context, config, company, declaration, files, resources } = scope;
  const { clock, log, random, signal } = context;
  const { concurrency, patienceMs } = config.http;
  const { windowMs } = config.rateLimit;
  const [started_at, startedMs, start] = [isoTime(clock.nowMs()), clock.monotonicMs(), positionOf(db)];
  const compared = comparedReads(files.compared, { mirror: nameOfMirror(db), by }, clock);
  using verification = new Verification({
    db,
    declaration,
    resources,
    transport,
    token: company.token.reveal(),
    clock,
    log,
    random,
    signal,
    concurrency,
    patienceMs,
    sample,
    month: month === undefined ? undefined : periodOfMonth(month),
    compared,
    shownFile: files.shown,
    isWritten: () => mirror === null && lockHolder(files.lock) !== null,
  });
  const ofMonth = month === undefined ? null : verification.comparison.deepReads.length;
  const { lists, details } = verifyCost(db, declaration, resources, ofMonth, sample);
  const { granted } = rateLimiter.view();
  const pace = `${minutesText(minutesFor(lists + details, { granted, windowMs }))} at ${granted}`;
  const time = `${pace} in ${formatDuration(windowMs)}`;
  log.info(`${company.name}: about ${formatCount(lists + details)} requests, ${time}`, { lists, details });
  const view = (): ProgressView => ({
    company: company.name,
    elapsedMs: clock.monotonicMs() - startedMs,
    resources: verification.resourceProgress(),
    requests: verification.tally.requests.total,
    queued: Math.max(0, lists + details - verification.tally.requests.total),
    scrub: null,
    budget: rateLimiter.view(),
    windowMs,
  });
  return await context.progress(
    () => [view()],
    async () => {
      const before = await verification.compare();
      if (mirror && before.length > 0) log.info(`${company.name}: repairing`, { records: before.length });
      const after = mirror && before.length > 0 ? await verification.repair(mirror, before) : before;
      const { resumed, tally } = verification;
      const finished_at = isoTime(clock.nowMs());
      const run = { by, started_at, finished_at, requests: tally.requests.total };
      const found = [verification.comparison, after, mirror ? before : null] as const;
      compared.finish();
      if (month !== undefined)
        return monthFindings(...found, { ...run, month, ...(mirror ? positionOf(db) : start) });
      const findings = verifyFindings(...found, { ...run, resumed });
      writeProof(files.verified, db, findings);
      return findings;
    },
  );
}

function positionOf(db: Db): Pick<MonthFindings, "log" | "position"> {
  return { log: readLog(db).id, position: new Changes(db).lastSeq() };
}

/** Estimates the requests from the mirror alone, and sends none. What differs is asked for on top. */
function verifyCost(
  db: Db,
  { resources: all, monthPackage }: ConnectorDeclaration,
  resources: readonly Resource[],
  ofMonth: number | null,
  sample: SampleSize,
) {
  if (ofMonth !== null) return { lists: monthPackage?.documents.length ?? 0, details: ofMonth };
  const sources = scrubSources({ declared: all, resources, parentsPerRun: "auto" });
  const details = new ScrubCandidates(db).readBefore(sources).count;
  const [meta, records] = [new Meta(db), new Records(db)];
  const lists = resources.reduce((sum, resource) => {
    const count = expectedRecords(meta, resource) ?? records.counts(resource.name).live;
    return sum + listRequests(resource, count);
  }, 0);
  return { lists, details: sample === "all" ? details : Math.min(sample, details) };
}

/** What `verify --month` prints. */
export function resultOfMonth(company: string, findings: MonthFindings): CompanyResult {
  const { month, compared, equal, differences, uncompared, requests, match, repaired } = findings;
  return {
    document: findings,
    outcome: match ? "complete" : differences.length > 0 ? "difference" : "partial",
    lines: [
      `${company}: ${month}: ${formatCount(equal)} of ${formatCount(compared)} documents equal the service, ${counted(requests, "request")}`,
      ...(repaired > 0 ? [repairedLine(repaired)] : []),
      ...differences.map(({ resource, id, kind, field, mirror, service }) =>
        field === undefined
          ? `  ${resource} ${id}: ${kind}`
          : `  ${resource} ${differenceText({ id, field, mirror, service })}`,
      ),
      ...uncompared.map(uncomparedLine),
    ],
  };
}

function resultOfFindings(company: string, findings: VerifyFindings): CompanyResult {
  const { resources, uncompared, match, requests, resumed } = findings;
  const { records_compared, details_compared, details_total } = findings;
  const tookMs = Date.parse(findings.finished_at) - Date.parse(findings.started_at);
  const count = differenceCount(findings);
  const differ = counted(count, "record differs", "records differ");
  const verdict = match ? "equal to the service" : count > 0 ? differ : "not everything could be compared";
  const details = `${formatCount(details_compared)} of ${formatCount(details_total)} details`;
  const compared = `${formatCount(records_compared)} records and ${details} compared`;
  const outcome = count > 0 ? "difference" : uncompared.length > 0 ? "partial" : "complete";
  const lines = [
    `${company}: ${verdict}: ${compared}, ${formatCount(requests)} requests in ${formatDuration(tookMs)}`,
    ...(resumed
      ? [`  resumed: ${formatCount(resumed.details)} of these details were compared since ${resumed.since}`]
      : []),
    ...repairLines(findings),
    ...Object.entries(resources).flatMap(([name, one]) => [
      ...(one.service === one.mirror
        ? []
        : [`  ${name}: ${one.service} at the service, ${one.mirror} in the mirror`]),
      ...namedLines(one).map((line) => `  ${name} ${line}`),
    ]),
    ...uncompared.map(uncomparedLine),
    ...(count > 0 && !findings.repair ? ["  `fintoro-mirror verify --repair` reads them again"] : []),
  ];
  return { document: findings, outcome, lines };
}

function uncomparedLine({ resource, id, message }: VerifyFindings["uncompared"][number]): string {
  return `  not compared: ${resource}${id === null ? "" : ` ${id}`}: ${message}`;
}

function repairLines({ repair }: VerifyFindings): string[] {
  if (!repair) return [];
  const found = Object.entries(repair.found).flatMap(([name, one]) =>
    namedLines(one).map((line) => `  before: ${name} ${line}`),
  );
  return [repairedLine(repair.repaired), ...found];
}

function repairedLine(count: number, more = ""): string {
  const renew = count > 0 ? "; `fintoro-mirror publish` shows them in the report" : "";
  return `  ${counted(count, "record was", "records were")} repaired${more}${renew}`;
}

function namedLines({ missing, extra, different, tombstoned }: NamedRecords): string[] {
  return [
    ...missing.map(({ id }) => `${id} is missing from the mirror`),
    ...tombstoned.map(({ id }) => `${id} is deleted in the mirror and alive at the service`),
    ...extra.map(({ id, why }) => `${id} is in the mirror only: ${why}`),
    ...different.map((one) => differenceText(one)),
  ];
}

function differenceText(
  { id, field, mirror, service }: NamedRecords["different"][number],
  other = "service",
): string {
  return `${id} differs in ${field}: mirror ${valueText(mirror)}, ${other} ${valueText(service)}`;
}

const longestValue = 200;

export function valueText(value: unknown): string {
  return terminalText(JSON.stringify(value, exactNumbers), longestValue);
}
