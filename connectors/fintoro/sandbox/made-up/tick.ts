import { systemClock } from "../../../../src/base/clock.ts";
import { messageOf } from "../../../../src/base/errors.ts";
import { isRefusedByRules } from "../rules/rules.ts";
import dayWork from "./day-work.json" with { type: "json" };
import type { Actor } from "./record-inputs.ts";
import { trigger } from "./trigger.ts";

export interface TickOptions {
  /** Index of the company. @default the first one */
  readonly company?: number | undefined;
  /** The same seed does the same work. @default the sandbox's own */
  readonly seed?: number | undefined;
  /** @default 200 */
  readonly changes?: number | undefined;
  /** The changes are spread evenly over it. @default 60,000 */
  readonly durationMs?: number | undefined;
}

/** A working day under way. */
export type Tick = ReturnType<typeof startTick>;

/**
 * Starts a working day: the seed decides what is done and to which records, the rules what is allowed.
 *
 * @returns `done` resolves at its end, and rejects with a bug of the sandbox; `stop` ends it early
 */
export function startTick(actor: Actor, { changes = 200, durationMs = 60_000 }: TickOptions) {
  const stopped = new AbortController();
  /** How often each kind of change was made. */
  const kinds: Record<string, number> = {};
  /** Changes so far, events that followed from them, and a bug of the sandbox that ended it. */
  const counts = { changes: 0, events: 0, ended: false, problem: null as string | null };
  const unsubscribe = actor.company.events.subscribe(() => counts.events++);
  const report = () => ({ ...counts, of: changes, kinds: { ...kinds } });
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
  const fail = (cause: unknown) => {
    counts.problem = messageOf(cause);
    throw cause;
  };
  const end = () => {
    counts.ended = true;
    unsubscribe();
  };
  const done = work().catch(fail).finally(end).then(report);
  return { done, report, stop: () => stopped.abort() };
}

/** Of what people do in a working day, `weight` says how often in about a hundred times. */
const allWeights = dayWork.reduce((sum, { weight }) => sum + weight, 0);

/** Does something of a working day, another thing where the rules refuse it; gives its name in a report. */
function doSomeWork(actor: Actor): string {
  for (let tries = 0; tries < 20; tries++) {
    let rest = actor.random.next() * allWeights;
    const { event, name } = dayWork.find(({ weight }) => (rest -= weight) < 0) ?? dayWork[0]!;
    try {
      trigger(actor, event);
      return name;
    } catch (cause) {
      if (!isRefusedByRules(cause)) throw cause;
    }
  }
  return "refused by the rules";
}
