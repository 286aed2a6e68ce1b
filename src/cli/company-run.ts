import { mkdirSync } from "node:fs";
import { MirrorError, messageOf } from "../base/errors.ts";
import { isoTime } from "../base/clock.ts";
import type { CompanyConfig, Config } from "../config/config.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import type { Manifest } from "../connector/manifest.ts";
import type { Resource } from "../connector/resource.ts";
import type { ProgressView } from "../observe/progress-view.ts";
import { takeWriterLock } from "../store/lock.ts";
import { openMirror, type Mirror } from "../store/mirror.ts";
import type { CompanyReport } from "../sync/report.ts";
import { runSync, type RunNotices } from "../sync/run.ts";
import { Tally } from "../sync/tally.ts";
import type { CommandContext } from "./command.ts";
import { progressView, type RunInView } from "./run-view.ts";
import { connectService, type Service } from "./service.ts";

/** What the user asked of a run, the same for every company of it. */
export interface RunRequest {
  readonly resources: readonly Resource[];
  readonly full: boolean;
  readonly allowMassDelete: boolean;
  readonly acceptIdentity: boolean;
  /** Per company, retries included. */
  readonly mostRequests: number | undefined;
  /** Closes when `--max-duration` is over. */
  readonly closed: AbortSignal;
}

/** One company's run, from its lock to its report, and how it stands on the way. */
export interface CompanyRun {
  readonly company: string;
  view(): ProgressView | null;
  run(): Promise<CompanyReport>;
}

export function companyRun(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  asked: RunRequest,
): CompanyRun {
  const manifest = context.connectors[0].manifest;
  let inView: RunInView | null = null;
  return {
    company: company.name,
    view: () => (inView ? progressView(inView) : null),
    run: async () => {
      const startedAt = isoTime(context.clock.nowMs());
      try {
        return await locked(config, company, async () => {
          const gate = { mostRequests: asked.mostRequests, closed: asked.closed };
          const service = connectService(context, config, company, { gate });
          try {
            return await perform(
              context,
              config,
              company,
              manifest,
              service,
              asked,
              (view) => (inView = view),
            );
          } finally {
            await service.close();
          }
        });
      } catch (error) {
        return notBegun(context, startedAt, error);
      }
    },
  };
}

async function locked<T>(config: Config, company: CompanyConfig, work: () => Promise<T>): Promise<T> {
  const files = mirrorFiles(config, company.name);
  mkdirSync(config.dataDir, { recursive: true });
  const lock = takeWriterLock(files.lock, "sync");
  try {
    return await work();
  } finally {
    lock.release();
  }
}

async function perform(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  manifest: Manifest,
  service: Service,
  asked: RunRequest,
  show: (view: RunInView) => void,
): Promise<CompanyReport> {
  const { clock, random, signal } = context;
  const notices = { newColumns: [], missingFields: new Set<string>(), unkeptFields: new Set<string>() };
  const mirror = await openNoticed(context, config, company, manifest, notices);
  const tally = new Tally();
  const startedMs = clock.monotonicMs();
  show({
    company: company.name,
    mirror,
    tally,
    service,
    clock,
    startedMs,
    asked,
    windowMs: config.rateLimit.windowMs,
  });
  const log = context.log;
  const token = company.token.reveal();
  const rateLimited = () => service.transport.stats().rateLimited;
  try {
    return await runSync(
      { mirror, transport: service.transport, clock, random, log, token, tally, rateLimited, notices },
      {
        ...asked,
        parentsPerRun: config.resources.parentsPerRun["contact_activity_logs"] ?? null,
        scrubAllowance: Math.floor(config.rateLimit.scrubShare * hourlyBudget(manifest)),
        concurrency: config.http.concurrency,
        signal,
        graceMs: config.http.timeoutMs,
      },
    );
  } finally {
    mirror.close();
  }
}

/** The scrub may spend its share of one hour's budget in each run. */
function hourlyBudget(manifest: Manifest): number {
  return (manifest.limits.requests * 3_600_000) / manifest.limits.windowMs;
}

function openNoticed(
  { log }: CommandContext,
  config: Config,
  company: CompanyConfig,
  manifest: Manifest,
  notices: Required<RunNotices>,
): Promise<Mirror> {
  return openMirror(mirrorFiles(config, company.name).mirror, manifest, {
    onNewColumn: ({ table, column }) => {
      notices.newColumns.push(`${table}.${column.name}`);
      log.warn(`the service sends a field nobody knew: it is the new column ${table}.${column.name}`);
    },
    onMissing: (resource, paths) =>
      once(notices.missingFields, resource, paths, (name) =>
        log.warn(`answers lack a field that was always there: ${name}`),
      ),
    onUnkept: (resource, paths) =>
      once(notices.unkeptFields, resource, paths, (name) =>
        log.warn(`a field nobody knew stands in lists only, and is not kept: ${name}`),
      ),
  });
}

function once(
  known: Set<string>,
  resource: string,
  paths: readonly string[],
  tell: (name: string) => void,
): void {
  for (const path of paths) {
    const name = `${resource}.${path}`;
    if (!known.has(name)) tell(name);
    known.add(name);
  }
}

/** A run that never came to ask anything still has a report; a bug has none. */
function notBegun({ clock }: CommandContext, startedAt: string, error: unknown): CompanyReport {
  if (!(error instanceof MirrorError)) throw error;
  const outcomes = {
    locked: "locked",
    database: "database",
    identity: "identity",
    unauthenticated: "unauthenticated",
  } as const;
  const { kind } = error;
  return {
    outcome: kind in outcomes ? outcomes[kind as keyof typeof outcomes] : "failed",
    started_at: startedAt,
    finished_at: isoTime(clock.nowMs()),
    resumed: false,
    requests: new Tally().requests,
    resources: {},
    swept: {},
    troubles: [],
    new_columns: [],
    missing_fields: [],
    unkept_fields: [],
    error: { kind, message: messageOf(error), ...(error.hint === undefined ? {} : { hint: error.hint }) },
  };
}
