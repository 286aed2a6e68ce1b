import { mkdirSync } from "node:fs";
import { isoTime } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { CompanyConfig, Config } from "../config/config.ts";
import { mirrorFiles } from "../config/mirror-files.ts";
import { createNotices } from "../daemon/notices.ts";
import { notBegun, performRun, type RunRequest } from "../daemon/perform.ts";
import { connectService } from "../daemon/service.ts";
import type { ProgressView } from "../observe/progress-view.ts";
import { takeWriterLock, type WriterLock } from "../store/lock.ts";
import { openMirror } from "../store/mirror.ts";
import type { CompanyReport } from "../sync/report.ts";
import { Tally } from "../sync/tally.ts";
import type { CommandContext } from "./command.ts";
import { progressView } from "./run-view.ts";

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
  let view: () => ProgressView | null = nothingYet;
  return {
    company: company.name,
    view: () => view(),
    run: async () => {
      const startedAt = isoTime(context.clock.nowMs());
      try {
        const lock = takeLock(config, company);
        return await perform(context, config, company, asked, (shown) => (view = shown)).finally(() =>
          lock.release(),
        );
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

function takeLock(config: Config, company: CompanyConfig): WriterLock {
  mkdirSync(config.dataDir, { recursive: true });
  return takeWriterLock(mirrorFiles(config, company.name).lock, "sync");
}

/** The caller holds the writer lock. */
async function perform(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  asked: RunRequest,
  show: (view: () => ProgressView | null) => void,
): Promise<CompanyReport> {
  const { clock, random, log, signal } = context;
  const gate = { mostRequests: asked.mostRequests, closed: asked.closed };
  const service = connectService(context, config, company, { gate });
  const { manifest } = context.connectors[0];
  const notices = createNotices(log);
  try {
    const mirror = await openMirror(mirrorFiles(config, company.name).mirror, manifest, notices.store);
    const tally = new Tally();
    const { windowMs } = config.rateLimit;
    const view = { company: company.name, mirror, tally, service, clock, windowMs, asked };
    const startedMs = clock.monotonicMs();
    show(() => progressView({ ...view, startedMs }));
    const { transport } = service;
    const parts = { mirror, transport, config, company, clock, random, log, tally, signal };
    return await performRun({ ...parts, notices: notices.begin() }, asked).finally(() => mirror.close());
  } finally {
    await service.close();
  }
}
