import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import { progressLines } from "./progress-text.ts";
import { progressFields, type ProgressView } from "./progress-view.ts";
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

/** Does `work` and shows the progress that `read` returns: a live block at a terminal, log lines elsewhere. */
export function withProgress<T>(
  options: ProgressOptions,
  read: () => readonly ProgressView[],
  work: () => Promise<T>,
): Promise<T> {
  const { screen, log, colour } = options;
  const draw = () => screen.block(blockLines(read(), screen, colour));
  const logViews = () => {
    for (const view of read()) log.info("progress", progressFields(view));
  };
  return screen.live
    ? repeatDuring(options, drawEveryMs, draw, work)
    : repeatDuring(options, logEveryMs, logViews, work);
}

function blockLines(views: readonly ProgressView[], { columns, rows }: Screen, colour: boolean): string[] {
  const rowsEach = Math.floor((rows - 1) / Math.max(1, views.length));
  return views.flatMap((view) => progressLines(view, { columns, rows: rowsEach, colour }));
}

/** Does `work` and shows lines at a terminal; without one it shows nothing. */
export function withLines<T>(
  options: Pick<ProgressOptions, "screen" | "clock">,
  read: () => readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const { screen } = options;
  const draw = () => screen.block(read().map((line) => line.slice(0, screen.columns - 1)));
  return screen.live ? repeatDuring(options, drawEveryMs, draw, work) : work();
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
