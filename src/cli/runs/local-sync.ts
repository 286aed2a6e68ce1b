import { mkdirSync } from "node:fs";
import { isoTime } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import { createNotices } from "../../daemon/runs/store-notices.ts";
import { notBegun, performRun, type RunRequest } from "../../daemon/runs/company-run.ts";
import { connectService } from "../../daemon/runs/service-connection.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import { lockingCommand, takeWriterLock, type WriterLock } from "../../store/writer-lock.ts";
import { openMirror } from "../../state/mirror.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import { Tally } from "../../sync/context/tally.ts";
import type { CommandContext } from "../program/command.ts";
import { followRemoteSync } from "./remote-sync.ts";
import { progressView } from "../../daemon/runs/run-progress.ts";

export interface TimedRequest extends RunRequest {
  /** Wall clock, when `closed` closes; null: never. */
  readonly untilMs: number | null;
}

type Show = (view: () => ProgressView | null) => void;

/** One company's run, from its lock to its report, and how it stands on the way. */
export interface CompanyRun {
  readonly company: string;
  view(): ProgressView | null;
  run(): Promise<CompanyReport>;
}

export function syncCompany(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  asked: TimedRequest,
): CompanyRun {
  let view: () => ProgressView | null = nothingYet;
  return {
    company: company.name,
    view: () => view(),
    run: async () => {
      const startedAt = isoTime(context.clock.nowMs());
      try {
        const show: Show = (shown) => (view = shown);
        const got = await lockOrFollow(context, config, company, asked, startedAt, show);
        if ("outcome" in got) return got;
        return await perform(context, config, company, asked, show).finally(() => got.release());
      } catch (error) {
        if (!(error instanceof MirrorError)) throw error;
        return notBegun(context.clock, startedAt, error);
      }
    },
  };
}

function nothingYet(): null {
  return null;
}

/** A holder may just be coming or going. */
const againMs = 200;
const mostAgain = 10;

/** The lock; or, where a daemon holds it, what became of the run there. */
async function lockOrFollow(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  asked: TimedRequest,
  startedAt: string,
  show: Show,
): Promise<WriterLock | CompanyReport> {
  mkdirSync(config.dataDir, { recursive: true });
  const { clock, log, signal } = context;
  const files = mirrorFiles(config, company.name);
  for (let tries = 1; ; tries++) {
    try {
      return takeWriterLock(files.lock, "sync");
    } catch (error) {
      const holder = lockingCommand(files.lock);
      const isLocked = error instanceof MirrorError && error.kind === "locked";
      if (!isLocked || (holder !== "serve" && (holder !== null || tries > mostAgain))) throw error;
      const more = { company: company.name, files, asked, untilMs: asked.untilMs, startedAt, show };
      const report = holder === null ? null : await followRemoteSync({ ...more, clock, log, signal });
      if (report) return report;
      await clock.sleep(againMs, signal);
    }
  }
}

/** The caller holds the writer lock. */
async function perform(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  asked: RunRequest,
  show: Show,
): Promise<CompanyReport> {
  const { clock, random, log, signal } = context;
  const limits = { mostRequests: asked.mostRequests, closed: asked.closed };
  const service = connectService(context, config, company, { limits });
  const { manifest } = context.connectors[0];
  const notices = createNotices(log);
  try {
    const mirror = await openMirror(mirrorFiles(config, company.name).mirror, manifest, notices.store);
    const tally = new Tally();
    const { windowMs } = config.rateLimit;
    const view = { company: company.name, mirror, tally, rateLimiter: service.rateLimiter, clock, windowMs };
    const startedMs = clock.monotonicMs();
    show(() => progressView({ ...view, startedMs, resources: asked.resources }));
    const { transport } = service;
    const parts = { mirror, transport, config, company, clock, random, log, tally, signal };
    return await performRun({ ...parts, notices: notices.begin() }, asked).finally(() => mirror.close());
  } finally {
    await service.close();
  }
}
