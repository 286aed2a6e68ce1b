import { formatCount, formatDuration } from "../../base/units.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import { connectService, type ServiceConnection } from "../../runs/service-connection.ts";
import { createNotices } from "../../runs/store-notices.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import { openMirror, type Mirror } from "../../state/mirror.ts";
import { Meta } from "../../state/meta.ts";
import { ScrubCandidates } from "../../state/scrub-candidates.ts";
import { expectedRecords } from "../../state/sweeps.ts";
import type { Db } from "../../store/database.ts";
import { Records } from "../../store/tables/stored-records.ts";
import { lockHolder, takeWriterLock } from "../../store/writer-lock.ts";
import { minutesFor, minutesText } from "../../sync/plan/run-plan.ts";
import { scrubSources } from "../../sync/plan/scrub-facts.ts";
import { listRequests } from "../../sync/plan/sweep-plan.ts";
import { ComparedReads } from "../../verify/compared-reads.ts";
import { nameOfMirror, writeProof } from "../../verify/proof-file.ts";
import { verifyReport, type VerifyReport } from "../../verify/report.ts";
import type { SampleSize } from "../../verify/sample.ts";
import { Verification } from "../../verify/verification.ts";
import { readExisting, type CompanyScope } from "../mirror/company-scope.ts";

/** What `verify` is asked for, the same for every company. */
export interface VerifyRequest {
  readonly resources: readonly Resource[];
  readonly sample: SampleSize;
  /** Reads again what differs. It takes the writer lock. */
  readonly repair: boolean;
  /** The command, as the result names it. */
  readonly by: string;
}

/**
 * Compares one company's mirror with the service, repairs it if that is asked for, and stores what it found for
 * `status`. Shows its progress.
 *
 * @throws MirrorError `locked` where another process writes the mirror that is to be repaired
 */
export async function verifyCompany(scope: CompanyScope, request: VerifyRequest): Promise<VerifyReport> {
  const { context, files } = scope;
  const connection = connectService(context, scope);
  try {
    // Refuses where there is no mirror yet, before anything is made.
    if (!request.repair)
      return await readExisting(scope, (db) => compare(scope, request, connection, { db, mirror: null }));
    await readExisting(scope, () => undefined);
    const lock = takeWriterLock(files.lock, "verify --repair", "the mirror that is to be repaired");
    try {
      return await compareAndRepair(scope, request, connection);
    } finally {
      lock.release();
    }
  } finally {
    await connection.close();
  }
}

async function compareAndRepair(
  scope: CompanyScope,
  request: VerifyRequest,
  connection: ServiceConnection,
): Promise<VerifyReport> {
  const { clock, log, signal } = scope.context;
  const { store } = createNotices(log);
  const mirror = await openMirror(scope.files.mirror, scope.manifest, store, { clock, log, signal });
  try {
    return await compare(scope, request, connection, { db: mirror.db, mirror });
  } finally {
    mirror.close();
  }
}

/** The mirror to compare; opened for writing where it is to be repaired. */
interface Compared {
  readonly db: Db;
  readonly mirror: Mirror | null;
}

async function compare(
  scope: CompanyScope,
  { resources, sample, by }: VerifyRequest,
  { transport, rateLimiter }: ServiceConnection,
  { db, mirror }: Compared,
): Promise<VerifyReport> {
  const { context, config, company, manifest, files } = scope;
  const { clock, log, random, signal } = context;
  const { concurrency, longestOutageMs } = config.http;
  const { windowMs } = config.rateLimit;
  const [startedAtMs, startedMs] = [clock.nowMs(), clock.monotonicMs()];
  const compared = new ComparedReads(files.compared, { mirror: nameOfMirror(db), by }, clock);
  const verification = new Verification({
    db,
    manifest,
    resources,
    transport,
    token: company.token.reveal(),
    clock,
    log,
    random,
    signal,
    concurrency,
    longestOutageMs,
    sample,
    compared,
    shownFile: files.shown,
    isWritten: () => mirror === null && lockHolder(files.lock) !== null,
  });
  const { lists, details } = verifyCost(db, manifest, resources, sample);
  const { granted } = rateLimiter.view();
  const time = minutesText(minutesFor(lists + details, { granted, windowMs }));
  const pace = `${time} at ${granted} in ${formatDuration(windowMs)}`;
  log.info(`${company.name}: about ${formatCount(lists + details)} requests, ${pace}`, { lists, details });
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
  try {
    return await context.progress(
      () => [view()],
      async () => {
        const before = await verification.compare();
        if (mirror && before.length > 0) log.info(`${company.name}: repairing`, { records: before.length });
        const findings = mirror && before.length > 0 ? await verification.repair(mirror, before) : before;
        const { resumed, tally } = verification;
        const at = { startedAtMs, finishedAtMs: clock.nowMs(), requests: tally.requests.total };
        const facts = { by, ...at, findings, before: mirror ? before : null, resumed };
        const report = verifyReport(verification.comparison, facts);
        writeProof(files.verified, db, report);
        compared.finish();
        return report;
      },
    );
  } finally {
    verification.close();
  }
}

/** Estimates the requests from the mirror alone, and sends none. What differs is asked for on top. */
function verifyCost(
  db: Db,
  { resources: all }: Manifest,
  resources: readonly Resource[],
  sample: SampleSize,
) {
  const candidates = new ScrubCandidates(db);
  const sources = scrubSources({ manifest: all, resources, parentsPerRun: "auto" });
  const details = sources.reduce((sum, source) => sum + candidates.readBefore(source).count, 0);
  const [meta, records] = [new Meta(db), new Records(db)];
  const lists = resources.reduce((sum, resource) => {
    const count = expectedRecords(meta, resource) ?? records.counts(resource.name).live;
    return sum + listRequests(resource, count);
  }, 0);
  return { lists, details: sample === "all" ? details : Math.min(sample, details) };
}
