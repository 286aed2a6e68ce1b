import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import { formatDuration } from "../base/units.ts";
import { planText, progressBlock } from "./progress-text.ts";
import { etaMs, progressFields, requestsLeft, type ProgressView } from "./progress-view.ts";
import type { Screen } from "./screen.ts";

/** Where progress is shown, and how often. */
export interface ProgressOptions {
  readonly screen: Screen;
  readonly log: Log;
  readonly clock: Clock;
  readonly colour: boolean;
}

/** At a terminal; a third of the rate that would flicker. */
const drawEveryMs = 200;
/** Without a terminal; shorter work logs nothing. */
const logEveryMs = 20_000;

/**
 * Does `work` and shows the progress that `read` returns: a live block at a terminal, log lines elsewhere. The plan of each
 * run is logged once, as soon as its lists have shown how long they are.
 */
export function withProgress<T>(
  options: ProgressOptions,
  read: () => readonly ProgressView[],
  work: () => Promise<T>,
): Promise<T> {
  const { screen, log, clock, colour } = options;
  const startedMs = clock.monotonicMs();
  const planned = new Set<string>();
  const readPlanned = () => {
    const views = read();
    for (const view of views) logPlan(view, planned, log);
    return views;
  };
  const draw = () => {
    const { columns, rows } = screen;
    screen.block(progressBlock(readPlanned(), { columns, rows, colour }));
  };
  const logViews = () => {
    const views = readPlanned();
    for (const view of views) log.info("progress", progressFields(view));
    if (views.length === 0) logWaiting(log, clock.monotonicMs() - startedMs);
  };
  return screen.live
    ? repeatDuring(options, drawEveryMs, draw, work)
    : repeatDuring(options, logEveryMs, logViews, work);
}

function logPlan(view: ProgressView, planned: Set<string>, log: Log): void {
  const { ahead, company } = view;
  if (planned.has(company) || view.scrub || !ahead?.isKnown || view.budget.limit === null) return;
  if (view.requests <= 1 || ahead.lists + ahead.details === 0) return;
  planned.add(company);
  log.info(planText(view), { requests: requestsLeft(view), eta_ms: etaMs(view) });
}

function logWaiting(log: Log, elapsedMs: number): void {
  log.info(`still at work, for ${formatDuration(elapsedMs)}`);
}

/** Does `work` and shows lines at a terminal; without one they are logged, as far as there are any. */
export function withLines<T>(
  options: Omit<ProgressOptions, "colour">,
  read: () => readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const { screen, log } = options;
  const draw = () => screen.block(read().map((line) => line.slice(0, screen.columns - 1)));
  const logLines = () => {
    for (const line of read()) log.info(line.trim());
  };
  return screen.live
    ? repeatDuring(options, drawEveryMs, draw, work)
    : repeatDuring(options, logEveryMs, logLines, work);
}

async function repeatDuring<T>(
  { screen, clock }: Pick<ProgressOptions, "screen" | "clock">,
  everyMs: number,
  step: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const repeat = async () => {
    for (;;) {
      await clock.sleep(everyMs, end.signal);
      if (end.signal.aborted) return;
      step();
    }
  };
  const repeating = repeat();
  try {
    return await work();
  } finally {
    end.abort();
    await repeating;
    screen.close();
  }
}
