import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import { progressLines } from "./progress-text.ts";
import { progressFields, type ProgressView } from "./progress-view.ts";
import type { Screen } from "./screen.ts";

export interface ProgressOptions {
  readonly screen: Screen;
  readonly log: Log;
  readonly clock: Clock;
  readonly colour: boolean;
  /** Five drawings a second; a third of the most that is allowed to flicker. */
  readonly drawEveryMs?: number;
  /** Without a terminal; a run shorter than this says nothing on its way. */
  readonly logEveryMs?: number;
}

/** Does `work` while showing what `read` tells: a live block at a terminal, log lines elsewhere. */
export async function withProgress<T>(
  options: ProgressOptions,
  read: () => readonly ProgressView[],
  work: () => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const watching = options.screen.live ? draw(options, read, end.signal) : report(options, read, end.signal);
  try {
    return await work();
  } finally {
    end.abort();
    await watching;
    options.screen.close();
  }
}

/** The same for work that a line or two tell of; without a terminal it says nothing on its way. */
export async function withLines<T>(
  { screen, clock, drawEveryMs = 200 }: Pick<ProgressOptions, "screen" | "clock" | "drawEveryMs">,
  read: () => readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const drawing = async () => {
    while (screen.live && !end.signal.aborted) {
      await clock.sleep(drawEveryMs, end.signal);
      if (!end.signal.aborted) screen.block(read().map((line) => line.slice(0, screen.columns - 1)));
    }
  };
  const watching = drawing();
  try {
    return await work();
  } finally {
    end.abort();
    await watching;
    screen.close();
  }
}

async function draw(
  { screen, clock, colour, drawEveryMs = 200 }: ProgressOptions,
  read: () => readonly ProgressView[],
  end: AbortSignal,
): Promise<void> {
  for (;;) {
    await clock.sleep(drawEveryMs, end);
    if (end.aborted) return;
    const views = read();
    const rows = Math.floor((screen.rows - 1) / Math.max(1, views.length));
    screen.block(views.flatMap((view) => progressLines(view, { columns: screen.columns, rows, colour })));
  }
}

async function report(
  { log, clock, logEveryMs = 20_000 }: ProgressOptions,
  read: () => readonly ProgressView[],
  end: AbortSignal,
): Promise<void> {
  for (;;) {
    await clock.sleep(logEveryMs, end);
    if (end.aborted) return;
    for (const view of read()) log.info("progress", progressFields(view));
  }
}
