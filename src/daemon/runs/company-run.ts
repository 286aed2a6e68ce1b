import { isoTime, type Clock } from "../../base/clock.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { Random } from "../../base/random.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import type { HttpTransport } from "../../http/http-transport.ts";
import type { Mirror } from "../../state/mirror.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import type { RunNotices } from "../../sync/run/run-outcome.ts";
import { runSync, type RunOptions, type RunParts } from "../../sync/run/sync-run.ts";
import { Tally } from "../../sync/context/tally.ts";

/** What is asked of a run, the same for every company of it. */
export interface RunRequest {
  readonly resources: readonly Resource[];
  readonly full: boolean;
  readonly allowMassDelete: boolean;
  readonly acceptIdentity: boolean;
  /** Per company, retries included. */
  readonly mostRequests: number | undefined;
  /** Closes when the run's time is over. */
  readonly closed: AbortSignal;
}

export interface PerformParts {
  readonly mirror: Mirror;
  /** Already limited as the request asks. */
  readonly transport: HttpTransport;
  readonly config: Config;
  readonly company: CompanyConfig;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly tally: Tally;
  readonly notices: RunNotices;
  readonly signal: AbortSignal;
  readonly graceMs?: number;
  /** Of whoever shares the mirror with this run. */
  readonly shared?: Pick<RunParts, "queue"> & Pick<RunOptions, "lanes">;
}

/** One run on an open mirror. Never throws for what the report can say. */
export function performRun(parts: PerformParts, asked: RunRequest): Promise<CompanyReport> {
  const { mirror, transport, config, company, clock, random, log, tally, notices, signal } = parts;
  const { queue, lanes } = parts.shared ?? {};
  return runSync(
    {
      mirror,
      transport,
      clock,
      random,
      log,
      tally,
      notices,
      token: company.token.reveal(),
      rateLimited: () => transport.stats().rateLimited,
      ...(queue && { queue }),
    },
    {
      ...asked,
      parentsPerRun: config.resources.parentsPerRun["contact_activity_logs"] ?? null,
      scrubAllowance: Math.floor(config.rateLimit.scrubShare * hourlyBudget(mirror.manifest)),
      concurrency: config.http.concurrency,
      signal,
      graceMs: parts.graceMs ?? config.http.timeoutMs,
      ...(lanes && { lanes }),
    },
  );
}

/** The scrub may spend its share of one hour's budget in each run. */
function hourlyBudget(manifest: Manifest): number {
  return (manifest.limits.requests * 3_600_000) / manifest.limits.windowMs;
}

/** Of a run that never came to ask anything. */
export function emptyReport(
  clock: Pick<Clock, "nowMs">,
  startedAt: string,
  outcome: CompanyReport["outcome"],
): CompanyReport {
  return {
    outcome,
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
  };
}

/** The same, and why. */
export function notBegun(clock: Pick<Clock, "nowMs">, startedAt: string, error: unknown): CompanyReport {
  const outcomes = {
    locked: "locked",
    database: "database",
    identity: "identity",
    unauthenticated: "unauthenticated",
    stopped: "stopped",
  } as const;
  const { kind, hint } = error instanceof MirrorError ? error : { kind: "bug", hint: undefined };
  const outcome = kind in outcomes ? outcomes[kind as keyof typeof outcomes] : "failed";
  return {
    ...emptyReport(clock, startedAt, outcome),
    error: { kind, message: messageOf(error), ...(hint === undefined ? {} : { hint }) },
  };
}
