import { yieldToLoop } from "../../base/cancellation.ts";
import { firstId, recordId, type RecordId } from "../../base/ids.ts";
import { snakeCase } from "../../base/names.ts";
import { resourceNamed } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import { LastChanges } from "../../state/checks/last-changes.ts";
import type { Mirror } from "../../state/mirror.ts";
import { variantsOf } from "../../state/sweeps.ts";
import type { NewWorkItem } from "../../state/work-item.ts";
import type { Fence } from "../../store/apply/merge-rules.ts";
import { repairRecord } from "../../store/apply/repair-record.ts";
import { stampWithoutRead } from "../../store/apply/read-stamp.ts";
import { sweepWork } from "../../sync/plan/list-reads.ts";
import type { LocalCheckOptions } from "./check-locally.ts";
import { repairState, type RepairParts } from "./repair-state.ts";
import { repairRead } from "./odd-work.ts";
import { RecordJudge, type JudgedRecord } from "./judge-records.ts";

/** What a repair did, in numbers of records. */
export interface LocalRepair {
  readonly repaired: number;
  /** Of them, those of which the next run reads what only the service knows. */
  readonly queued: number;
}

/**
 * Repairs what `checkLocally` finds, without a request: rows are derived from their JSON again. What only the service
 * knows is queued for the next run, and stays a finding until then. The caller holds the writer lock.
 *
 * Guarantee: each transaction repairs some records whole, with their changes in the log (I1, I2). Nothing is deleted
 * that was read and not proven to be gone (I5).
 * Source of truth: the JSON whose SHA-1 is the fence's.
 * Worst outcome of a crash: the rest is found again by the next check.
 *
 * @throws MirrorError `database`, `stopped`
 */
export async function repairLocally(
  parts: RepairParts,
  options: LocalCheckOptions = {},
): Promise<LocalRepair> {
  const { mirror } = parts;
  const last = new LastChanges(mirror.db);
  const total = { repaired: 0, queued: 0 };
  try {
    for (const { name } of mirror.manifest.resources) await repairTable(parts, name, last, total, options);
  } finally {
    last.drop();
  }
  repairState(parts);
  return total;
}

async function repairTable(
  parts: RepairParts,
  name: string,
  last: LastChanges,
  total: { repaired: number; queued: number },
  { onProgress, signal }: LocalCheckOptions,
): Promise<void> {
  const { mirror } = parts;
  const why = `stopped while ${name} were repaired`;
  let records = 0;
  for (let from: bigint | null = firstId; from !== null;) {
    const tables = mirror.manifest.resources.map((resource) => mirror.table(resource.name));
    const part = new RecordJudge(tables, last).part(mirror.table(name), from);
    repairSome(parts, part.wrong, last, total);
    records += part.records;
    from = part.next;
    onProgress?.({ resource: name, records });
    await yieldToLoop(signal, why);
  }
  for (let lost = last.unheld(name, firstId, lostAtOnce); lost.length > 0;) {
    repairSome(
      parts,
      lost.map((id) => lostRecord(name, id, last)),
      last,
      total,
    );
    lost = last.unheld(name, BigInt(lost.at(-1) ?? 0), lostAtOnce);
    await yieldToLoop(signal, why);
  }
}

const lostAtOnce = 1_000;

/** Of a record that was read and is nowhere, the log says that it is not there, until it is read again. */
function lostRecord(resource: string, id: RecordId, last: LastChanges): JudgedRecord {
  const after = last.between(resource, id, id).get(id)?.seq ?? null;
  return { resource, id, found: [], steps: [{ kind: "log", op: "delete", after }, { kind: "refetch" }] };
}

/** In one transaction. */
function repairSome(
  { mirror, queue, clock }: RepairParts,
  records: readonly JudgedRecord[],
  last: LastChanges,
  total: { repaired: number; queued: number },
): void {
  if (records.length === 0) return;
  const stamp = stampWithoutRead("repair", clock);
  mirror.apply(() => {
    for (const { resource, id, steps } of records) {
      const table = mirror.table(resource);
      // Before the rows change: they say whose an owned record is.
      const isAsked = steps.some(({ kind }) => kind === "refetch");
      const reads = isAsked ? readsOf(mirror, table.resource, id) : [];
      for (const step of steps) repairRecord(table, id, step, stamp);
      for (const read of reads) queue.add(read);
      const fence = table.statements.selectFence.get(id) as Fence | undefined;
      if (fence && fence.last_change !== null)
        last.note(resource, id, { seq: fence.last_change, op: fence.gone === 1 ? "delete" : "update" });
      if (isAsked) total.queued += 1;
    }
  });
  total.repaired += records.length;
}

/** The reads that show a record: its own detail, its owner's, or its list. */
function readsOf(mirror: Mirror, { name, detail, list }: Resource, id: RecordId): NewWorkItem[] {
  const dirtySeq = mirror.sequence.next();
  if (detail !== undefined) return [repairRead(name, id, dirtySeq)];
  if (list.kind === "single") return [sweepWork(name, { variant: "" }, dirtySeq)];
  if (list.kind !== "owned")
    return variantsOf(resourceNamed(mirror.manifest, name)).map((variant) =>
      sweepWork(name, { variant }, dirtySeq),
    );
  return list.by.flatMap(({ resource, type, typeField, idField }) => {
    const [ownType, owner] = mirror.records.texts(name, id, [snakeCase(typeField), snakeCase(idField)]);
    const ownerId = recordId(owner ?? "");
    return ownType === type && ownerId !== null ? [repairRead(resource, ownerId, dirtySeq)] : [];
  });
}
