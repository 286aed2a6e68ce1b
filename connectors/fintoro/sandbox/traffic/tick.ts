import { systemClock } from "../../../../src/base/clock.ts";
import { messageOf } from "../../../../src/base/errors.ts";
import { doSomeWork } from "./actions.ts";
import type { Actor } from "./actor.ts";

export interface TickOptions {
  /** @default 200 */
  readonly changes?: number | undefined;
  /** The changes are spread evenly over it. @default 60,000 */
  readonly durationMs?: number | undefined;
}

export interface TickReport {
  /** Made so far. */
  readonly changes: number;
  readonly of: number;
  readonly ended: boolean;
  /** A bug of the sandbox itself, which ended it. */
  readonly problem: string | null;
  /** Events that followed from the changes. */
  readonly events: number;
  /** How often each kind of change was made. */
  readonly kinds: Readonly<Record<string, number>>;
}

/** A working day under way. */
export interface Tick {
  /** Resolves at its end; rejects with a bug of the sandbox. */
  readonly done: Promise<TickReport>;
  report(): TickReport;
  /** No more changes are made; `done` resolves. */
  stop(): void;
}

/** Starts a working day: the seed decides what is done and to which records, the rules what is allowed. */
export function startTick(actor: Actor, { changes = 200, durationMs = 60_000 }: TickOptions): Tick {
  const stopped = new AbortController();
  const kinds: Record<string, number> = {};
  const counts = { changes: 0, events: 0, ended: false, problem: null as string | null };
  const unsubscribe = actor.company.events.subscribe(() => counts.events++);
  const report = (): TickReport => ({ ...counts, of: changes, kinds: { ...kinds } });
  const work = async () => {
    const startMs = systemClock.monotonicMs();
    for (let i = 0; i < changes; i++) {
      const waitMs = startMs + (i * durationMs) / changes - systemClock.monotonicMs();
      await (waitMs > 0 ? systemClock.sleep(waitMs, stopped.signal) : new Promise(setImmediate));
      if (stopped.signal.aborted) return;
      const kind = doSomeWork(actor);
      counts.changes++;
      kinds[kind] = (kinds[kind] ?? 0) + 1;
    }
  };
  const end = async () => {
    try {
      await work();
    } catch (cause) {
      counts.problem = messageOf(cause);
      throw cause;
    } finally {
      counts.ended = true;
      unsubscribe();
    }
    return report();
  };
  return { done: end(), report, stop: () => stopped.abort() };
}
