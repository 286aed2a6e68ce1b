import { databaseError } from "../../store/database.ts";
import { createRunContext, type RunContext, type WorkerParts } from "../context/run-context.ts";
import { Tally } from "../context/tally.ts";
import { dailyRemovals, routeProofs } from "../deletion/deletion.ts";
import { Engine, type WorkOptions } from "../engine/engine.ts";
import { stopSignal } from "../../base/cancellation.ts";
import { identify } from "../identity/identify.ts";
import { rememberIdentity } from "../../state/meta.ts";
import { continuousRetryPolicy, type RetryPolicy } from "../../retry/retry-policies.ts";
import { createWorkerStatus } from "./worker-status.ts";

/**
 * Works on one company's events from now on until stopped: verifies the token's company (I10), then processes the
 * queued work of webhooks. After an error it pauses and begins again. `options.concurrency` is meant beside the requests
 * of a run.
 *
 * Guarantee: only the signals end it, and no outage loses an event: work items stay in the queue until their read
 * is applied.
 * Source of truth: the work queue.
 * Worst outcome of a crash: the requests in flight are sent again.
 */
export function startEventWorker(given: Omit<WorkerParts, "tally">, options: WorkOptions) {
  const tally = new Tally();
  const parts = { ...given, tally };
  const { mirror, queue, clock, log, transport } = parts;
  const { resources, concurrency, closed } = options;
  const status = createWorkerStatus(clock, log);
  const ending = AbortSignal.any([options.signal, closed]);
  const signal = stopSignal(options);
  /** Kept over outages: what is known of items and routes stays valid. */
  let kept: { readonly run: RunContext; readonly policy: RetryPolicy } | null = null;
  /** The service has identified the company, but nothing was read or written since: not yet a recovery. */
  let inDoubt = false;
  const identifyCompany = () => identify(parts, { acceptIdentity: false, lane: "webhook", signal });
  const onWorking = () => {
    inDoubt = false;
    status.works();
  };
  /** A run without lists: what it knows of routes and removals expires with time instead of with the run. */
  const createContext = () => {
    const provenRoutes = routeProofs(queue, clock, null);
    const removals = dailyRemovals(mirror.db, clock);
    const run = createRunContext(parts, { resources, provenRoutes, signal, removals });
    return { run, policy: continuousRetryPolicy(log, identifyCompany, onWorking) };
  };
  /** Works until stopped, or until an error; returns how long to pause then, ms. */
  const tryToWork = async (): Promise<number> => {
    try {
      const { changed, identity } = await identifyCompany();
      if (changed) mirror.apply(() => rememberIdentity(mirror, identity));
      if (!inDoubt) status.works();
      kept ??= createContext();
      inDoubt = true;
      await new Engine(kept.run, { transport, concurrency, policy: kept.policy, signal, closed }).work();
      return 0;
    } catch (thrown) {
      return ending.aborted ? 0 : status.impeded(databaseError(mirror.db.name, thrown));
    }
  };
  const workUntilStopped = async () => {
    while (!ending.aborted) await clock.sleep(await tryToWork(), ending);
  };
  return {
    tally,
    /** Resolves when it was stopped and has ended; never rejects. */
    ended: workUntilStopped(),
    state: () => status.state(),
  };
}
