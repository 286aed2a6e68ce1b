import { isoTime } from "../../base/clock.ts";
import { formatCount } from "../../base/units.ts";
import { databaseError } from "../../store/database.ts";
import { retryInTurn } from "../../store/transient-errors.ts";
import { requireRunId, type RunContext, type RunParts } from "../context/run-context.ts";
import type { CompanyReport, Outcome } from "../context/run-report.ts";
import { Engine } from "../engine/engine.ts";
import { stopSignal } from "../engine/stop-signal.ts";
import { identify } from "../identity/identify.ts";
import { learnBusinessId } from "../identity/pinned-identity.ts";
import { refreshLists } from "../plan/initial-work.ts";
import { OutageWatch } from "../retry/outage.ts";
import { BatchRetryPolicy } from "../retry/retry-policy.ts";
import { beginRun, type RunOptions } from "./begin-run.ts";
import { errorOf, finishRun, outcomeOfError, outcomeOfWork, reportOf, type RunState } from "./run-outcome.ts";
import { ScrubPhase } from "./scrub-phase.ts";

/**
 * Runs one sync of one company: verifies the token's company (I10), queues the initial work, works until the queue
 * is empty or a limit ends it, scrubs, and reports.
 *
 * @throws only what the report cannot say: bugs
 */
export async function runSync(parts: RunParts, options: RunOptions): Promise<CompanyReport> {
  const { mirror, clock } = parts;
  const { closed, graceMs } = options;
  const startedAtMs = clock.nowMs();
  const over = new AbortController();
  const signal = stopSignal(options.signal, closed, graceMs, over.signal);
  const state: RunState = { startedAtMs, run: null, resumed: false, listedAt: null, scrub: null };
  try {
    const outcome = await work(parts, { ...options, signal }, state);
    return await finishRun(parts, state, { outcome: options.signal.aborted ? "interrupted" : outcome });
  } catch (thrown) {
    const error = databaseError(mirror.db.name, thrown);
    const outcome = closed.aborted ? "stopped" : outcomeOfError(error);
    if (outcome === null && !options.signal.aborted) throw error;
    const ending = options.signal.aborted || outcome === null ? "interrupted" : outcome;
    return finishRun(parts, state, { outcome: ending, error: errorOf(error) });
  } finally {
    over.abort();
  }
}

/** Runs a step that writes; waits while another program holds the mirror. */
type WhenFree = <T>(step: () => T) => Promise<T>;

/** Both phases of a run: everything listed, changed and missing; then the scrub, which keeps nobody waiting. */
async function work(parts: RunParts, options: RunOptions, state: RunState): Promise<Outcome> {
  const { mirror, transport } = parts;
  const { concurrency, acceptIdentity, closed, scrub, longestOutageMs, signal } = options;
  const free: WhenFree = (step) => retryInTurn(mirror.db, step, { ...parts, signal });
  const outages = new OutageWatch({ ...parts, longestOutageMs, ended: AbortSignal.any([signal, closed]) });
  const ask = () => identify(parts, { acceptIdentity, lane: "list", signal });
  const identified = await outages.untilAnswered(ask);
  const { run, resumed } = await free(() => beginRun(parts, options, identified, state.startedAtMs));
  Object.assign(state, { run, resumed });
  const refresh = () => free(() => !options.quick && refreshLists(run));
  const afterPage = onceListed(parts, options, run, () =>
    reportOf(parts, state, { outcome: "partial", scrub: null }),
  );
  const policy = new BatchRetryPolicy(outages, ask);
  const engine = { transport, concurrency, policy, signal, closed, refresh, afterPage };
  const ended = await new Engine(run, engine).work();
  await free(() => learnBusinessId(mirror));
  if (ended === "drained") return "stopped";
  if (options.quick) return run.tally.allTroubles().length > 0 ? "partial" : "complete";
  const outcome = await free(() => outcomeOfWork(run, resumed));
  state.listedAt = isoTime(parts.clock.nowMs());
  if (scrub === null || options.full || !(await beginScrub(parts, options, state, { outcome, free })))
    return outcome;
  const scrubClosed = AbortSignal.any([closed, scrub.closed]);
  const scrubbed = await new Engine(run, { ...engine, closed: scrubClosed }).work();
  if (scrubbed === "drained" && !scrub.closed.aborted) return "stopped";
  return free(() => outcomeOfWork(run, resumed));
}

/** Fewer details than this are read within minutes: the report that follows the run is early enough. */
const manyDetails = 600;

/** Has the report published as soon as no list waits, once for each time, where the rest takes long. */
function onceListed(
  { log }: RunParts,
  { quick, onListsRead }: RunOptions,
  { queue, names, begunLists }: RunContext,
  report: () => CompanyReport,
): () => void {
  let announcedMs = 0;
  return () => {
    const begunMs = Math.max(0, ...[...begunLists.values()].map((list) => list.begunMs));
    if (quick || begunMs <= announcedMs || queue.hasLists(names)) return;
    announcedMs = begunMs;
    const details = queue.countDetails(names);
    if (details < manyDetails) return;
    const waiting = formatCount(details);
    log.info(`all lists are in; ${waiting} details and lists of parents follow, the newest first`);
    void onListsRead?.(report());
  };
}

/** Stores that everything listed is in, queues the scrub and has the report published. False: nothing to scrub. */
async function beginScrub(
  parts: RunParts,
  { scrub: options, parentsPerRun, onListed }: RunOptions,
  state: RunState,
  { outcome, free }: { readonly outcome: Outcome; readonly free: WhenFree },
): Promise<boolean> {
  const { run } = state;
  if (run === null || options === null) return false;
  const report = reportOf(parts, state, { outcome, scrub: null });
  await free(() => parts.mirror.apply(() => run.runs.noteListed(requireRunId(run), report)));
  state.scrub = await free(() => new ScrubPhase(run, options, parentsPerRun));
  if (state.scrub.planned === 0) return false;
  state.scrub.announce();
  await onListed?.(report);
  return true;
}
