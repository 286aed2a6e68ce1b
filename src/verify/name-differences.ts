import { throwIfAborted } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import type { RecordId } from "../base/ids.ts";
import { resourceNamed } from "../connector/connector-manifest.ts";
import { PendingReads } from "../state/checks/pending-reads.ts";
import { versionOf, type RecordVerdict } from "./compare-record.ts";
import type { Comparison } from "./comparison.ts";

/** A record that differs, also when it was asked for again. */
export interface Finding {
  readonly resource: string;
  readonly id: RecordId;
  readonly verdict: Exclude<RecordVerdict, { kind: "equal" | "unreadable" }>;
}

/** Beside a writer: a record differs when its rows did not change for so long, and nothing waits to be read of it. */
const quietMs = 10_000;

/** Beside a writer: a record that still changes after this time is not compared. */
const longestWaitMs = 120_000;

/** Asked for between two looks at the mirror's rows: a longer time would see more of them change. */
const askedAtOnce = 20;

/** A suspect, and since when its rows are as they are. */
interface Suspect {
  readonly resource: string;
  readonly id: RecordId;
  readonly listOf: null;
  state: string | null;
  sinceMs: number;
  /** Number of the newest reason to read that was queued then. */
  reason: number;
}

const unseen = { listOf: null, state: null, reason: 0 };

interface Circumstances {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Does another process hold the mirror's writer lock? */
  readonly isWritten: () => boolean;
}

/**
 * Asks for every suspect again, on its own route, and names those that still differ.
 *
 * Guarantee: a record is named only when an answer that was sent after the mirror's rows were read differs from them,
 * and the rows are still the same afterwards. Beside a writer the mirror gets time to come up to date.
 * Source of truth: the service; nothing is written.
 * Worst outcome of a crash: nothing was said.
 */
export async function nameDifferences(comparison: Comparison, around: Circumstances): Promise<Finding[]> {
  const { clock, signal } = around;
  const { uncompared, view } = comparison;
  const findings: Finding[] = [];
  const startedMs = clock.monotonicMs();
  let open = [...comparison.suspects].flatMap(([resource, ids]) =>
    [...ids].map((id): Suspect => ({ ...unseen, resource, id, sinceMs: startedMs })),
  );
  while (open.length > 0) {
    view.reopen();
    const moving: Suspect[] = [];
    for (const some of askedTogether(comparison, open)) {
      const before = some.map((one) => versionOf(view.held(one.resource, one.id)));
      await comparison.copy.read(some);
      for (const [i, one] of some.entries()) {
        const verdict = examine(comparison, one, before[i] ?? null, around);
        const { resource, id } = one;
        if (verdict === "moving") moving.push(one);
        else if (verdict.kind === "unreadable") uncompared.push({ resource, id, message: verdict.why });
        else if (verdict.kind !== "equal") findings.push({ resource, id, verdict });
      }
    }
    open = moving;
    if (open.length === 0 || clock.monotonicMs() - startedMs >= longestWaitMs) break;
    await clock.sleep(quietMs, signal);
    throwIfAborted(signal, "stopped before all was compared");
  }
  for (const { resource, id } of open)
    uncompared.push({ resource, id, message: "it kept changing while it was compared" });
  return findings;
}

/** Some records with a route of their own at a time; a list is read once for all others. */
function askedTogether({ view }: Comparison, suspects: readonly Suspect[]): Suspect[][] {
  const groups = Map.groupBy(suspects, ({ resource }) =>
    resourceNamed(view.manifest, resource).detail === undefined ? resource : null,
  );
  return [...groups].flatMap(([list, some]) => {
    const size = list === null ? askedAtOnce : some.length;
    return Array.from({ length: Math.ceil(some.length / size) }, (_, i) =>
      some.slice(i * size, (i + 1) * size),
    );
  });
}

/** `moving`: it differs, but the mirror may be about to read it. */
function examine(
  comparison: Comparison,
  one: Suspect,
  before: string | null,
  { clock, isWritten }: Circumstances,
): RecordVerdict | "moving" {
  const { view } = comparison;
  const held = view.held(one.resource, one.id);
  const verdict = comparison.verdictOf(one.resource, one.id, held);
  if (verdict.kind === "equal" || verdict.kind === "unreadable") return verdict;
  const state = versionOf(held);
  if (state === before && !isWritten()) return verdict;
  const isQuiet = state === before && state === one.state;
  const pending = new PendingReads(view.db);
  if (isQuiet && !pending.mayBeRead({ ...one, nowMs: clock.nowMs() })) {
    return clock.monotonicMs() - one.sinceMs >= quietMs ? verdict : "moving";
  }
  if (!isQuiet) one.reason = pending.newestReason();
  one.state = state;
  one.sinceMs = clock.monotonicMs();
  return "moving";
}
