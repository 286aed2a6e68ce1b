import { hintOf, messageOf, MirrorError } from "../../base/errors.ts";
import type { Meta } from "../../state/meta.ts";
import { nameOfTarget } from "../../state/work-item.ts";
import { requestIdOf } from "../apply/handle-failure.ts";
import type { RunContext } from "../context/run-context.ts";
import type { RunSummary, Outcome, RunError } from "../context/run-summary.ts";

/** How a run whose work ended by itself ended; adds what is left behind to its troubles. */
export function outcomeOfWork(run: RunContext, resumed: boolean): Outcome {
  run.mirror.apply(() => releaseWithoutId(run, resumed));
  noteKept(run);
  return run.tally.allTroubles().length > 0 ? "partial" : "complete";
}

/**
 * Removes records without an id from quarantine that this run did not meet although it read all of the resource:
 * they are deleted at the service, or have an id now.
 */
function releaseWithoutId(run: RunContext, resumed: boolean): void {
  const { quarantine } = run.mirror;
  const troubled = new Set(run.tally.allTroubles().map((trouble) => trouble.resource));
  for (const resource of run.selected.keys()) {
    const readWhole = !resumed && (run.full || run.tally.swept.has(resource));
    if (!readWhole || troubled.has(resource)) continue;
    quarantine.releaseWithoutId(resource, run.withoutId.get(resource) ?? new Set());
  }
}

/** Quarantined records and dead letters are reported, also those of earlier runs. */
function noteKept({ mirror, queue, selected, tally }: RunContext): void {
  const known = new Set(tally.allTroubles().map((one) => `${one.resource} ${one.id}`));
  for (const { resource, recordId, reason } of mirror.quarantine.all()) {
    if (!selected.has(resource)) continue;
    const message = `record ${recordId ?? "without an id"} is in quarantine: ${reason}`;
    tally.trouble({ resource, kind: "quarantined", id: recordId?.toString() ?? null, message });
  }
  for (const { resource, target, id, reason } of queue.deadLetters()) {
    if (!selected.has(resource) || known.has(`${resource} ${id}`)) continue;
    tally.trouble({ resource, kind: "dead", id, message: `${nameOfTarget(target)} is set aside: ${reason}` });
  }
}

/** How a run ended that this error cut off; null for a bug, which the caller throws on. */
export function outcomeOfError(error: unknown): Outcome | null {
  if (!(error instanceof MirrorError)) return null;
  const { kind } = error;
  if (kind === "unauthenticated" || kind === "identity" || kind === "database") return kind;
  return kind === "stopped" ? "stopped" : "failed";
}

export function errorOf(error: unknown): RunError {
  const requestId = requestIdOf(error);
  const own = requestId !== null && { request_id: requestId };
  const kind = error instanceof MirrorError ? error.kind : "runtime";
  return { kind, message: messageOf(error), ...hintOf(error), ...own };
}

/** Where the last run is stored in `_meta` that failed before it could write its row; null: another one began since. */
export const failedStartKey = "failed_start";

/** A run that failed before it began to write: the service refused the token, or was away. */
type FailedStart = Readonly<Record<"outcome" | "at" | "message", string>>;

/** Notes such a run, inside a transaction. */
export function noteFailedStart(meta: Meta, { outcome, finished_at: at, error }: RunSummary): void {
  const failure: FailedStart = { outcome, at, message: error?.message ?? "" };
  meta.set(failedStartKey, failure);
}

/** The last such run; null: another one began since, or there was none. */
export function lastFailedStart(meta: Meta): FailedStart | null {
  return meta.get(failedStartKey) as FailedStart | null;
}

/** Counts what is left to read. A failing database may not show it; that must not hide why it failed. */
export function noteLeft({ selected, tally, queue, mirror }: RunContext, outcome: Outcome): void {
  for (const name of selected.keys()) tally.of(name).pending = 0;
  try {
    for (const { resource, count } of queue.counts([...selected.keys()])) tally.of(resource).pending += count;
    for (const name of selected.keys()) tally.of(name).provisional = mirror.records.counts(name).provisional;
  } catch (error) {
    if (outcome !== "database") throw error;
  }
}
