import type { Clock } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { DaemonCommands } from "../../state/daemon-commands.ts";
import type { Db } from "../../store/database.ts";
import type { InboxState } from "../../state/inbox/inbox.ts";
import { InboxView } from "../../state/inbox/inbox-view.ts";
import type { Replayed } from "./event-replay.ts";

/** Which events: those named, or all that came since, perhaps of one state. */
export type ReplayChoice =
  | { readonly ids: readonly string[] }
  /** ISO. */
  | { readonly since: string; readonly state: InboxState | null };

/** In the order they came; those named as they are, known or not. */
export function chosenEvents(db: Db, choice: ReplayChoice): readonly string[] {
  if ("ids" in choice) return [...new Set(choice.ids)];
  return new InboxView(db).idsSince(choice.since, choice.state);
}

/** So many in one order: the one who does it has other work, too. */
const mostInOrder = 1000;

export interface OrderedReplay {
  readonly orders: DaemonCommands;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Is the one who takes orders still there? */
  readonly holds: () => boolean;
  /** For each order. */
  readonly patienceMs: number;
}

/**
 * Has the process that writes the mirror do it. Throws `locked` if it does not answer in time or ends before
 * it did; what it has not begun by then is withdrawn.
 */
export async function replayByOrder(parts: OrderedReplay, eventIds: readonly string[]): Promise<Replayed> {
  const answers: Replayed[] = [];
  for (let from = 0; from < eventIds.length; from += mostInOrder)
    answers.push(await answerTo(parts, eventIds.slice(from, from + mostInOrder)));
  return {
    queued: answers.reduce((sum, { queued }) => sum + queued, 0),
    unread: answers.reduce((sum, { unread }) => sum + unread, 0),
    missing: answers.flatMap(({ missing }) => missing),
  };
}

const lookEveryMs = 200;

async function answerTo(parts: OrderedReplay, ids: readonly string[]): Promise<Replayed> {
  const { orders, clock, signal, holds, patienceMs } = parts;
  const id = orders.add("replay", { ids }, { atMs: clock.nowMs(), pid: process.pid });
  const untilMs = clock.monotonicMs() + patienceMs;
  for (;;) {
    const order = orders.get(id);
    if (order?.state === "done") return order.report as Replayed;
    if (order?.state === "failed") throw failure(order.report);
    const why = giveUp(signal.aborted, holds(), clock.monotonicMs() < untilMs);
    if (why) {
      orders.withdraw(id);
      throw why;
    }
    await clock.sleep(lookEveryMs, signal);
  }
}

function giveUp(stopped: boolean, held: boolean, inTime: boolean): MirrorError | null {
  const hint = "Nothing is lost: run it again.";
  if (stopped) return new MirrorError("stopped", "stopped before the daemon answered", { hint });
  if (!held)
    return new MirrorError("locked", "the daemon ended before it answered", { hint, retryable: true });
  if (inTime) return null;
  return new MirrorError("locked", "the daemon does not answer", { hint, retryable: true });
}

function failure(report: unknown): MirrorError {
  const { error } = (report ?? {}) as { readonly error?: unknown };
  const why = typeof error === "string" ? error : "it does not say why";
  return new MirrorError("database", `the daemon could not do it: ${why}`, { retryable: true });
}
