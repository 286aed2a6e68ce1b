import { isoTime, type Clock } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import { isAlive, type DaemonCommand, type DaemonCommands } from "../../state/daemon-commands.ts";
import { notBegun, type RunRequest } from "../runs/company-run.ts";
import type { RunQueue } from "../runs/run-queue.ts";
import { requestOf, untilOf } from "./sync-command.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import { createErrorGuard } from "../../store/transient-errors.ts";

export interface CommandLoopParts {
  readonly manifest: Manifest;
  readonly orders: DaemonCommands;
  readonly desk: Pick<RunQueue, "run">;
  readonly clock: Clock;
  readonly log: Log;
  readonly closed: AbortSignal;
  /** Answers an order of kind `replay`. */
  readonly replay: (options: unknown) => unknown;
  /** How the run stands that does this; null: it has not begun. */
  readonly view: (asked: RunRequest) => ProgressView | null;
}

/** How soon an order is seen. */
const lookEveryMs = 1_000;
const afterFailureMs = 10_000;
const progressEveryMs = 1_000;

/**
 * Does what other processes ask for. An order that is cut off by our own end stays as it is: whoever writes
 * the mirror next does it.
 */
export async function processCommands(parts: CommandLoopParts): Promise<void> {
  const { clock, log, closed } = parts;
  const patiently = createErrorGuard(clock, log);
  const desk = { busy: false, done: Promise.resolve() };
  while (!closed.aborted) {
    const written = patiently(() => {
      takeReplays(parts);
      const order = desk.busy ? null : parts.orders.next("sync");
      if (!order || !parts.orders.start(order.id)) return;
      desk.busy = true;
      desk.done = doSync(parts, order).finally(() => (desk.busy = false));
    });
    await clock.sleep(written ? lookEveryMs : afterFailureMs, closed);
  }
  await desk.done;
}

function takeReplays({ orders, replay, clock, closed }: CommandLoopParts): void {
  for (let order = orders.next("replay"); order && !closed.aborted; order = orders.next("replay")) {
    if (!orders.start(order.id)) continue;
    try {
      orders.finish(order.id, "done", replay(order.options), clock.nowMs());
    } catch (error) {
      orders.finish(order.id, "failed", { error: messageOf(error) }, clock.nowMs());
    }
  }
}

/** Never rejects: an answer that cannot be written is asked for again after the next start. */
async function doSync(parts: CommandLoopParts, order: DaemonCommand): Promise<void> {
  const { desk, manifest, clock, log, closed } = parts;
  const startedAt = isoTime(clock.nowMs());
  const ended = new AbortController();
  const until = AbortSignal.any([ended.signal, closed]);
  log.info("another process asks for a sync", { order: order.id, pid: order.pid });
  try {
    const asked = requestOf(order.options, manifest, closingAt(clock, untilOf(order.options), until));
    void tellProgress(parts, order, asked, until);
    const report = await desk.run(asked, `asked for by process ${order.pid}`);
    const cutOff = closed.aborted && report?.outcome !== "complete" && report?.outcome !== "partial";
    if (report && !cutOff) await settle(parts, order, report);
  } catch (error) {
    log.error("a sync that was asked for failed", { order: order.id, error: messageOf(error) });
    await settle(parts, order, notBegun(clock, startedAt, error));
  } finally {
    ended.abort();
  }
}

/** Somebody waits for it, however long the database cannot be written. */
async function settle(
  { orders, clock, log, closed }: CommandLoopParts,
  { id }: DaemonCommand,
  report: CompanyReport,
) {
  do {
    try {
      orders.finish(id, "done", report, clock.nowMs());
      return;
    } catch (error) {
      log.warn("the answer to an order cannot be written yet", { order: id, error: messageOf(error) });
      await clock.sleep(lookEveryMs, closed);
    }
  } while (!closed.aborted);
}

async function tellProgress(
  { orders, clock, view }: CommandLoopParts,
  order: DaemonCommand,
  asked: RunRequest,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted) {
    await clock.sleep(progressEveryMs, ended);
    if (ended.aborted || !isAlive(order.pid)) continue;
    attempt(() => {
      const shown = view(asked);
      if (shown) orders.progress(order.id, shown);
    });
  }
}

/** Aborts at that time, unless `ended` comes first. */
function closingAt(clock: Clock, untilMs: number | null, ended: AbortSignal): AbortSignal {
  const over = new AbortController();
  const wait = async (leftMs: number) => {
    await clock.sleep(Math.max(0, leftMs), ended);
    if (!ended.aborted) over.abort();
  };
  if (untilMs !== null) void wait(untilMs - clock.nowMs());
  return over.signal;
}

function attempt(step: () => void): void {
  try {
    step();
  } catch {
    // the next one will do
  }
}
