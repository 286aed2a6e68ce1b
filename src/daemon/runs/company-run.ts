import { isoTime, type Clock } from "../../base/clock.ts";
import { messageOf, MirrorError } from "../../base/errors.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import type { HttpTransport } from "../../http/http-transport.ts";
import type { RateLimiter } from "../../rate-limit/permit.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import type { CompanyReport, Outcome } from "../../sync/context/run-report.ts";
import type { RunParts } from "../../sync/context/run-context.ts";
import { runSync, type RunOptions } from "../../sync/run/sync-run.ts";
import { Tally } from "../../sync/context/tally.ts";
import type { ProcessContext } from "./process-context.ts";

/** What a run is asked for, the same for every company of it. */
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

/** One run of one company, and what it works with. */
export interface CompanyRun extends Pick<RunParts, "mirror" | "tally" | "notices"> {
  readonly context: Pick<ProcessContext, "clock" | "random" | "log">;
  readonly config: Config;
  readonly company: CompanyConfig;
  readonly request: RunRequest;
  /** With the request's own limits. */
  readonly transport: HttpTransport;
  readonly rateLimiter: Pick<RateLimiter, "view">;
  /** Monotonic. */
  readonly startedMs: number;
  /** Interrupts the run. */
  readonly signal: AbortSignal;
  /** @default the deadline of a request */
  readonly graceMs?: number;
  /** Of an event worker beside this run, which takes the lane of events. */
  readonly queue?: WorkQueue;
}

/** Makes one run on an open mirror, as the config says. Throws only what a report cannot say. */
export function performRun(run: CompanyRun): Promise<CompanyReport> {
  const { mirror, transport, config, company, tally, notices, queue, signal } = run;
  const { clock, random, log } = run.context;
  const { limits } = mirror.manifest;
  const requestsPerHour = (limits.requests * 3_600_000) / limits.windowMs;
  const token = company.token.reveal();
  const rateLimited = () => transport.stats().rateLimited;
  const opened = { mirror, transport, tally, notices, queue: queue ?? new WorkQueue(mirror.db) };
  const parts = { ...opened, clock, random, log, token, rateLimited };
  return runSync(parts, {
    ...run.request,
    parentsPerRun: parentsPerRun(mirror.manifest, config),
    scrubAllowance: Math.floor(config.rateLimit.scrubShare * requestsPerHour),
    concurrency: config.http.concurrency,
    share: queue ? "others" : "all",
    signal,
    graceMs: run.graceMs ?? config.http.timeoutMs,
  });
}

/** How many of the resources that are listed parent by parent are read in every run. */
function parentsPerRun({ resources }: Manifest, config: Config): RunOptions["parentsPerRun"] {
  const { parentsPerRun: limits } = config.resources;
  const limited = resources.find(({ name, list }) => list.kind === "parents" && limits[name] !== undefined);
  return limited ? (limits[limited.name] ?? "auto") : "auto";
}

type WallClock = Pick<Clock, "nowMs">;

/** The report of a run that sent no request. */
export function emptyReport(clock: WallClock, startedAt: string, outcome: Outcome): CompanyReport {
  const times = { started_at: startedAt, finished_at: isoTime(clock.nowMs()) };
  const work = { resumed: false, requests: new Tally().requests, resources: {}, swept: {}, troubles: [] };
  return { outcome, ...times, ...work, new_columns: [], missing_fields: [], unkept_fields: [] };
}

/** Kinds of errors that are an outcome of a run as well. */
const outcomes = ["locked", "database", "identity", "unauthenticated", "stopped"] as const;

/** The report of a run that could not begin, with the error and the outcome that stands for it. */
export function notBegun(clock: WallClock, startedAt: string, error: unknown): CompanyReport {
  const { kind, hint } = error instanceof MirrorError ? error : { kind: "bug", hint: undefined };
  const outcome = outcomes.find((one) => one === kind) ?? "failed";
  return {
    ...emptyReport(clock, startedAt, outcome),
    error: { kind, message: messageOf(error), ...(hint === undefined ? {} : { hint }) },
  };
}
