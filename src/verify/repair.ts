import { hash } from "node:crypto";
import { throwIfAborted } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import { resourceNamed } from "../connector/connector-manifest.ts";
import type { Resource } from "../connector/resource.ts";
import type { Transport } from "../connector/transport.ts";
import type { Mirror } from "../state/mirror.ts";
import { WorkQueue } from "../state/work-queue.ts";
import type { Fence } from "../store/apply/merge-rules.ts";
import { repairRecord } from "../store/apply/repair-record.ts";
import type { ReadStamp } from "../store/apply/read-stamp.ts";
import type { ResourceTable } from "../store/apply/resource-table.ts";
import { createRunContext, type ReadContext, type RunContext } from "../sync/context/run-context.ts";
import { holdMassDelete, mayRemove, runRemovals } from "../sync/deletion/mass-delete-guard.ts";
import { removeRecord } from "../sync/deletion/removal.ts";
import { runRouteProofs } from "../sync/deletion/route-probe.ts";
import { Engine } from "../sync/engine/engine.ts";
import type { OutageWatch } from "../sync/retry/outage.ts";
import { BatchRetryPolicy } from "../sync/retry/retry-policy.ts";
import type { Tally } from "../sync/context/tally.ts";
import { repairRead } from "./local/odd-work.ts";
import { repairLocally } from "./local/repair-locally.ts";
import type { Finding } from "./passes/name-differences.ts";
import { readLists } from "./service/list-reading.ts";
import type { ServiceReader } from "./service/service-reader.ts";

/** What a repair works with. The caller holds the writer lock. */
export interface RepairParts {
  readonly mirror: Mirror;
  readonly resources: readonly Resource[];
  readonly transport: Transport;
  readonly reader: ServiceReader;
  readonly outages: OutageWatch;
  /** Reads something that always exists, once. */
  readonly probe: () => Promise<unknown>;
  /** Resources whose detail route has answered 200. */
  readonly provenRoutes: ReadonlySet<string>;
  readonly tally: Tally;
  readonly concurrency: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Reads again what differs, through the work queue and the step that applies every answer; then makes rows anew that are
 * not those of their record. What has no route of its own is applied from its list.
 *
 * Guarantee: each record is queued in the transaction that declares it doubtful (I1), each change is in the log with
 * cause `repair` (I2), a deletion needs its proof, and more than a few need permission (I5).
 * Source of truth: the service; the work queue for what is still to be read.
 * Worst outcome of a crash: what was queued is read by the next run.
 *
 * @throws MirrorError `stopped`, and what concerns the whole service
 */
export async function repairFromService(parts: RepairParts, findings: readonly Finding[]): Promise<void> {
  const { mirror, outages, probe, transport, concurrency, signal } = parts;
  const run = contextOf(parts);
  // What the mirror knows by itself: fences and the change log fit together before more changes follow.
  await repairLocally({ mirror, queue: run.queue, clock: parts.clock }, { signal });
  const own = findings.filter(({ resource }) => detailOf(mirror, resource) !== undefined);
  mirror.apply(() => {
    const dirtySeq = mirror.sequence.next();
    for (const { resource, id } of own) {
      distrust(mirror.table(resource), id);
      // In the lane of events, which is all that this run reads.
      run.queue.add({ ...repairRead(resource, id, dirtySeq), lane: "webhook" });
    }
  });
  const never = new AbortController().signal;
  const policy = new BatchRetryPolicy(outages, probe);
  await new Engine(run, { transport, concurrency, policy, signal, closed: never }).work();
  throwIfAborted(signal, "stopped before all was repaired; the next run reads the rest");
  const others = findings.filter((one) => !own.includes(one));
  for (const name of new Set(others.map(({ resource }) => resource)))
    await applyLists(
      parts,
      run,
      name,
      others.filter(({ resource }) => resource === name),
    );
  const stamp = stampNow(parts, 0);
  mirror.apply(() => {
    for (const { resource, id } of findings) mirror.table(resource).derive(id, stamp);
  });
}

/** A run that reads what is in the lane of events: nothing else is there beside a repair but events that wait. */
function contextOf(parts: RepairParts): RunContext {
  const { mirror, resources, clock, signal, provenRoutes } = parts;
  const queue = new WorkQueue(mirror.db);
  const proofs = runRouteProofs(queue, clock);
  for (const name of provenRoutes) proofs.add(name);
  return createRunContext(
    { ...parts, queue },
    {
      runId: null,
      resources,
      startedAtMs: clock.nowMs(),
      chainStartedMs: clock.nowMs(),
      share: "events",
      full: false,
      allowMassDelete: false,
      parentReads: { beforeMs: 0, left: 0 },
      provenRoutes: proofs,
      signal,
      removals: runRemovals(),
    },
  );
}

function detailOf(mirror: Mirror, resource: string): string | undefined {
  return resourceNamed(mirror.manifest, resource).detail;
}

/** The next read of the record is stored, where the JSON is not the one that its hash is of, or has no fence. */
function distrust(table: ResourceTable, id: Finding["id"]): void {
  const { statements } = table;
  const fence = statements.selectFence.get(id) as Fence | undefined;
  if (!fence) {
    for (const child of statements.children) child.clear.run(id);
    return;
  }
  const bytes = statements.selectRawBytes.get(id) as Buffer | undefined;
  const isRight = bytes && fence.sha !== null && hash("sha1", bytes, "buffer").equals(fence.sha);
  if (!isRight) repairRecord(table, id, { kind: "forget" }, noStamp);
}

const noStamp: ReadStamp = {
  cause: "repair",
  sentSeq: 0,
  receivedSeq: 0,
  receivedAtMs: 0,
  requestId: null,
  run: null,
};

/** The lists of records without a route of their own, read again, decide about those that differ. */
async function applyLists(
  parts: RepairParts,
  run: RunContext,
  name: string,
  findings: readonly Finding[],
): Promise<void> {
  const { mirror, reader } = parts;
  const resource = resourceNamed(mirror.manifest, name);
  const wanted = new Set(findings.map(({ id }) => id));
  const sentSeq = mirror.sequence.next();
  const slices = new Map<Finding["id"], Buffer>();
  const shown = await readLists(reader, resource, (id, slice) => {
    if (wanted.has(id)) slices.set(id, slice);
  });
  const read: ReadContext = { run, stamp: stampNow(parts, sentSeq) };
  mirror.apply(() => {
    const table = mirror.table(name);
    const absent = [...wanted].filter((id) => !slices.has(id));
    const live = absent.filter((id) => mirror.records.isLive(name, id)).length;
    const isProven = shown.isWhole && shown.ids.size > 0;
    for (const id of wanted) distrust(table, id);
    for (const [id, slice] of slices) table.put({ stamp: read.stamp, id, slice, source: "list" });
    if (!isProven) return;
    if (mayRemove(run, name, live)) for (const id of absent) removeRecord(read, resource, id);
    else holdMassDelete(run, name, live);
  });
  for (const callback of run.afterCommit.splice(0)) callback();
}

function stampNow({ mirror, clock }: RepairParts, sentSeq: number): ReadStamp {
  const times = { sentSeq, receivedSeq: mirror.sequence.next(), receivedAtMs: clock.nowMs() };
  return { ...noStamp, ...times };
}
