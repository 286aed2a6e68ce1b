import { throwIfAborted } from "../../base/cancellation.ts";
import type { RecordId } from "../../base/ids.ts";
import { resourceNamed } from "../../connector/connector-manifest.ts";
import { PendingReads } from "../../state/checks/pending-reads.ts";
import type { Comparison } from "./comparison.ts";
import { readFresh, type FreshLists } from "./fresh-record.ts";
import { compareRecord, type Verdict } from "../compare/compare-record.ts";
import { versionOf } from "../compare/mirror-view.ts";

/** A record that differs, also when it was asked for again. */
export interface Finding {
  readonly resource: string;
  readonly id: RecordId;
  readonly verdict: Exclude<Verdict, { kind: "equal" | "unreadable" }>;
}

/** Beside a writer: a record differs when its rows did not change for so long, and nothing waits to be read of it. */
const quietMs = 10_000;

/** Beside a writer: a record that still changes after this time is not compared. */
const longestWaitMs = 120_000;

/** A suspect, and since when its rows are as they are. */
interface Suspect {
  readonly resource: string;
  readonly id: RecordId;
  state: string | null;
  sinceMs: number;
  /** Number of the newest reason to read that was queued then. */
  reason: number;
}

/**
 * Asks for every suspect again, on its own route, and names those that still differ.
 *
 * Guarantee: a record is named only when an answer that was sent after the mirror's rows were read differs from them,
 * and the rows are still the same afterwards. Beside a writer the mirror gets time to come up to date.
 * Source of truth: the service; nothing is written.
 * Worst outcome of a crash: nothing was said.
 */
export async function nameDifferences(comparison: Comparison): Promise<Finding[]> {
  const { clock, signal, reader, uncompared, view } = comparison;
  const findings: Finding[] = [];
  const startedMs = clock.monotonicMs();
  let open = [...comparison.suspects].flatMap(([resource, ids]) =>
    [...ids].map((id): Suspect => ({ resource, id, state: null, sinceMs: startedMs, reason: 0 })),
  );
  while (open.length > 0) {
    view.reopen();
    const fresh: FreshLists = new Map();
    const moving: Suspect[] = [];
    await reader.forEach(open, async (one) => {
      const verdict = await examine(comparison, one, fresh);
      const { resource, id } = one;
      if (verdict === "moving") moving.push(one);
      else if (verdict.kind === "unreadable") uncompared.push({ resource, id, message: verdict.why });
      else if (verdict.kind !== "equal") findings.push({ resource, id, verdict });
    });
    open = moving;
    if (open.length === 0) break;
    if (clock.monotonicMs() - startedMs >= longestWaitMs) break;
    await clock.sleep(quietMs, signal);
    throwIfAborted(signal, "stopped before all was compared");
  }
  for (const { resource, id } of open)
    uncompared.push({ resource, id, message: "it kept changing while it was compared" });
  return findings;
}

/** `moving`: it differs, but the mirror may be about to read it. */
async function examine(comparison: Comparison, one: Suspect, fresh: FreshLists): Promise<Verdict | "moving"> {
  const { view, clock, isWritten } = comparison;
  const resource = resourceNamed(view.manifest, one.resource);
  const before = versionOf(view.held(one.resource, one.id));
  const shown = await readFresh(comparison, resource, one.id, fresh);
  const held = view.held(one.resource, one.id);
  const verdict = compareRecord(view, resource, held, shown);
  if (verdict.kind === "equal" || verdict.kind === "unreadable") return verdict;
  const state = versionOf(held);
  if (state === before && !isWritten()) return verdict;
  const isQuiet = state === before && state === one.state;
  const pending = new PendingReads(view.db);
  if (isQuiet && !pending.mayBeRead({ ...one, nowMs: clock.nowMs() })) {
    const isOver = clock.monotonicMs() - one.sinceMs >= quietMs;
    return isOver ? verdict : "moving";
  }
  if (!isQuiet) one.reason = pending.newestReason();
  one.state = state;
  one.sinceMs = clock.monotonicMs();
  return "moving";
}
