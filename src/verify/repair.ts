import { throwIfAborted } from "../base/errors.ts";
import type { RecordId } from "../base/ids.ts";
import { resourceNamed } from "../connector/connector-declaration.ts";
import type { Mirror } from "../state/mirror.ts";
import { WorkQueue } from "../state/work-queue.ts";
import { stampWithoutRead } from "../store/apply/read-stamp.ts";
import { isAsReceived, readHeld } from "../store/apply/held-record.ts";
import type { ResourceTable } from "../store/apply/resource-table.ts";
import { createRunContext, type ReadContext, type RunContext } from "../sync/context/run-context.ts";
import type { Tally } from "../sync/context/tally.ts";
import { holdMassDelete, mayRemove, removeRecord, runRemovals } from "../sync/deletion/deletion.ts";
import { Engine } from "../sync/engine/engine.ts";
import type { RetryPolicy } from "../retry/retry-policies.ts";
import { repairLocally, repairRead } from "./local/repair-locally.ts";
import type { Finding } from "./comparison.ts";
import type { Asking, ServiceCopy } from "./service-copy.ts";

/** What a repair works with. The caller holds the writer lock. */
interface RepairParts extends Asking {
  readonly mirror: Mirror;
  readonly copy: ServiceCopy;
  readonly tally: Tally;
  readonly policy: RetryPolicy;
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
  const { mirror, copy, policy, transport, concurrency, resources, signal } = parts;
  const queue = new WorkQueue(mirror.db);
  // Beside what is repaired, nothing but events that wait is in the lane of events.
  const settings = { resources, signal, provenRoutes: copy.provenRoutes, removals: runRemovals() };
  const run = createRunContext({ ...parts, queue }, settings);
  // What the mirror knows by itself: fences and the change log fit together before more changes follow.
  await repairLocally({ mirror, queue: run.queue, clock: parts.clock }, { signal });
  const isOwn = ({ resource }: Finding) => resourceNamed(mirror.declaration, resource).detail !== undefined;
  const own = findings.filter(isOwn);
  mirror.apply(() => {
    const dirtySeq = mirror.sequence.next();
    for (const { resource, id, verdict } of own) {
      distrust(mirror.table(resource), id);
      const kind = verdict.kind === "extra" ? "confirm" : "detail";
      // In the lane of events, which is all that this run reads.
      run.queue.add({ ...repairRead(resource, id, dirtySeq), kind, lane: "webhook" });
    }
  });
  await new Engine(run, { transport, concurrency, policy, signal }).work();
  throwIfAborted(signal, "stopped before all was repaired; the next run reads the rest");
  const listed = findings.filter((one) => !isOwn(one));
  for (const [name, some] of Map.groupBy(listed, ({ resource }) => resource)) {
    const ids = some.map(({ id }) => id);
    await applyLists(parts, run, name, ids);
  }
  const stamp = stampWithoutRead("repair", parts.clock);
  mirror.apply(() => {
    for (const { resource, id } of findings) mirror.table(resource).derive(id, stamp);
  });
}

/** The next read of the record is stored, where the JSON is not the one that its hash is of, or has no fence. */
function distrust({ statements }: ResourceTable, id: RecordId): void {
  const held = readHeld(statements, id);
  if (!held.fence) statements.clearChildren(id);
  else if (!isAsReceived(held)) statements.of("forgetSha").run(id);
}

/** The lists of records without a route of their own, read again, decide about those that differ. */
async function applyLists(parts: RepairParts, run: RunContext, name: string, wanted: readonly RecordId[]) {
  const { mirror, copy, clock } = parts;
  const resource = resourceNamed(mirror.declaration, name);
  const sentSeq = mirror.sequence.next();
  await copy.readLists([resource]);
  const seqs = { sentSeq, receivedSeq: mirror.sequence.next() };
  const read: ReadContext = { run, stamp: { ...stampWithoutRead("repair", clock), ...seqs } };
  mirror.apply(() => {
    const table = mirror.table(name);
    const shown = wanted.map((id) => ({ id, ...copy.shown(resource, id) }));
    const absent = shown.flatMap(({ id, kind }) => (kind === "absent" ? [id] : []));
    const live = absent.filter((id) => mirror.records.isLive(name, id)).length;
    for (const id of wanted) distrust(table, id);
    for (const one of shown)
      if (one.kind === "shown")
        table.put({ stamp: read.stamp, id: one.id, slice: one.slice, source: "list" });
    if (!copy.isWhole(name)) return;
    if (mayRemove(run, name, live)) for (const id of absent) removeRecord(read, resource, id);
    else holdMassDelete(run, name, live);
  });
  for (const callback of run.afterCommit.splice(0)) callback();
}
