import { hash } from "node:crypto";
import { yieldToLoop } from "../../base/cancellation.ts";
import { isoTime, type Clock } from "../../base/clock.ts";
import { firstId, recordId, type RecordId } from "../../base/ids.ts";
import type { Log } from "../../base/logger.ts";
import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { Resource } from "../../connector/resource.ts";
import { StateCheck, LastChanges } from "../../state/checks/state-check.ts";
import { absentOwnTables, checkLocally, isOfIndex, oddWork, restoreOwnTables } from "./check-locally.ts";
import type { LocalCheck } from "./check-locally.ts";
import { EventIds } from "../../state/inbox/event-ids.ts";
import { Listings } from "../../state/listings.ts";
import { openMirror, type Mirror } from "../../state/mirror.ts";
import { variantsOf } from "../../state/sweeps.ts";
import { recordTarget, type NewWorkItem } from "../../state/work-item.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import type { Fence } from "../../store/apply/merge-rules.ts";
import { readHeld } from "../../store/apply/held-record.ts";
import { stampWithoutRead, type ReadStamp } from "../../store/apply/read-stamp.ts";
import type { ResourceTable } from "../../store/apply/resource-table.ts";
import { guarded, openDatabase } from "../../store/database.ts";
import type { OwnRow } from "../../store/own-tables/mirror-tables.ts";
import { listPage } from "../../sync/plan/list-reads.ts";
import { CompanyIngest } from "../../webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../webhook/keys/keyring.ts";
import { judgedParts, type JudgedRecord, type JudgeOptions } from "./judge-records.ts";

type Judged = readonly JudgedRecord[];

interface LocalParts {
  readonly mirror: Mirror;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  /** Names of the resources that the config mirrors. @default all */
  readonly selected?: ReadonlySet<string> | undefined;
}

interface LocalVerificationOptions extends JudgeOptions, Pick<LocalParts, "clock" | "selected"> {
  /** Repairs what is found: the caller holds the writer lock. */
  readonly repair: boolean;
  readonly log: Log;
}

export type LocalVerification = Awaited<ReturnType<typeof verifyLocally>>;

/**
 * Checks a mirror against itself, repairs it if asked to, and checks it again. Sends no request.
 *
 * @returns `result`: what is wrong after the repair; the same as `found` where there was none
 * @throws MirrorError `database`, `stopped` when the signal aborted
 */
export async function verifyLocally(
  path: string,
  declaration: ConnectorDeclaration,
  options: LocalVerificationOptions,
) {
  const found = await checkLocally(path, declaration, options);
  const isRepaired = !found.match && options.repair && repairFile(path, found);
  if (!isRepaired) return { found, repair: null, result: found };
  const { clock, log, signal, selected } = options;
  using mirror = await openMirror(path, declaration, { clock, log, ...(signal && { signal }) });
  const queue = new WorkQueue(mirror.db);
  const repair = await repairLocally({ mirror, queue, clock, selected }, options);
  return { found, repair, result: await checkLocally(path, declaration, options) };
}

/** What must be whole before the mirror can be opened. False: the file is damaged beyond its indexes. */
function repairFile(path: string, { problems }: LocalCheck): boolean {
  const damages = problems.filter(({ kind }) => kind === "integrity");
  if (!damages.every(({ message }) => isOfIndex(message))) return false;
  using db = openDatabase(path);
  guarded(path, () => {
    restoreOwnTables(db, absentOwnTables(db));
    if (damages.length > 0) db.exec("REINDEX");
  });
  return true;
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
export async function repairLocally(parts: LocalParts, options: JudgeOptions = {}) {
  const { mirror } = parts;
  const last = new LastChanges(mirror.db);
  /** `queued`: those of which the next run reads what only the service knows. */
  const total = { repaired: 0, queued: 0 };
  const repair = (records: Judged) => {
    total.queued += repairSome(parts, records, last);
    total.repaired += records.length;
  };
  for (const { name } of mirror.declaration.resources) await repairTable(mirror, name, last, repair, options);
  repairChangeLog(parts);
  repairQueue(parts);
  repairInbox(parts);
  return total;
}

async function repairTable(
  mirror: Mirror,
  name: string,
  last: LastChanges,
  repair: (records: Judged) => void,
  options: JudgeOptions,
): Promise<void> {
  const tables = () => mirror.declaration.resources.map((resource) => mirror.table(resource.name));
  for await (const { wrong } of judgedParts(tables, last, name, "repaired", options)) repair(wrong);
  for (let lost = last.unheld(name, firstId, lostAtOnce); lost.length > 0;) {
    // Of a record that was read and is nowhere, the log says that it is not there, until it is read again.
    const records = lost.map((id): JudgedRecord => {
      const after = last.between(name, id, id).get(id) ?? null;
      const asked = { last: after, op: "delete", isTrusted: false, isAsked: true } as const;
      return { resource: name, id, found: [], repair: asked };
    });
    repair(records);
    lost = last.unheld(name, BigInt(lost.at(-1) ?? 0), lostAtOnce);
    await yieldToLoop(options.signal, `stopped while ${name} were repaired`);
  }
}

const lostAtOnce = 1_000;

/** In one transaction. Returns of how many of them reads are queued. */
function repairSome({ mirror, queue, clock }: LocalParts, records: Judged, last: LastChanges) {
  if (records.length === 0) return 0;
  const stamp = stampWithoutRead("repair", clock);
  mirror.apply(() => {
    for (const record of records) {
      const { resource, id } = record;
      const table = mirror.table(resource);
      // Before the rows change: they say whose an owned record is.
      const reads = record.repair.isAsked ? readsOf(mirror, table.resource, id) : [];
      repairRecord(table, record, stamp);
      for (const read of reads) queue.add(read);
      const fence = table.statements.of("selectFence").get(id) as Fence | undefined;
      if (fence && fence.last_change !== null)
        last.note(resource, id, { seq: fence.last_change, op: fence.gone === 1 ? "delete" : "update" });
    }
  });
  return records.filter(({ repair }) => repair.isAsked).length;
}

/** Puts one record right, with a change in the log where its row changes (I2). */
function repairRecord(table: ResourceTable, { id, repair }: JudgedRecord, stamp: ReadStamp): void {
  const { statements, context, resource } = table;
  const { fence, last = null, op, json, isTrusted, overrides } = repair;
  const held = readHeld(statements, id);
  if (fence && held.fence) statements.of("setFence").run(fence.gone, fence.gone, fence.source, id);
  else if (fence) {
    const sha = fence.gone === 1 || !held.bytes ? null : hash("sha1", held.bytes, "buffer");
    // Any read is newer than one of which nothing is known.
    const made = [id, sha, null, fence.source, 0, stamp.receivedAtMs, null, fence.gone];
    statements.of("upsertFence").run(made);
  }
  if (last) statements.of("setLastChange").run(last.seq, id);
  if (op) {
    const before = (op === "delete" && held.json) || null;
    const change = { stamp, resource: resource.name, id, op, before };
    statements.of("setLastChange").run(context.log.add(change, last?.seq ?? null), id);
  }
  if (json !== undefined && json !== held.json) statements.of("upsertRaw").run(id, Buffer.from(json));
  if (isTrusted) table.derive(id, stamp, overrides);
  else statements.of("forgetSha").run(id);
}

/** The reads that show a record: its own detail, its owner's, or its list. */
function readsOf(mirror: Mirror, resource: Resource, id: RecordId): NewWorkItem[] {
  const { name, detail, list } = resource;
  const dirtySeq = mirror.sequence.next();
  if (detail !== undefined) return [repairRead(name, id, dirtySeq)];
  if (list.kind === "single") return [listPage(name, { variant: "" }, dirtySeq)];
  if (list.kind !== "owned")
    return variantsOf(resource).map((variant) => listPage(name, { variant }, dirtySeq));
  const owners = mirror.records.ownersOf(resource, id);
  return owners.map((owner) => repairRead(owner.resource, owner.id, dirtySeq));
}

/** Guard: a repair queues it for a record in which something is wrong; any read of the record ends that. */
export function repairRead(resource: string, id: RecordId, dirtySeq: number): NewWorkItem {
  return { kind: "detail", resource, target: recordTarget(id), lane: "changed", reason: "repair", dirtySeq };
}

/** What is not sound beside the records is repaired so much in one transaction; the rest is not written. */
const atOnce = 5_000;

/** The log, and the sequence by which it and the fences are numbered. */
function repairChangeLog({ mirror, clock }: LocalParts): void {
  const log = new StateCheck(mirror.db);
  for (let found = log.brokenChanges(atOnce); found.length > 0; found = log.brokenChanges(atOnce))
    mirror.apply(() => found.forEach((change) => log.mendChange(change)));
  const at = isoTime(clock.nowMs());
  for (let found = log.lostReads(atOnce); found.length > 0; found = log.lostReads(atOnce))
    mirror.apply(() => found.forEach((read) => log.restoreRead(read, at)));
  const received = log.lastReceivedSeq(mirror.declaration.resources.map(({ name }) => name));
  if (received > Number(mirror.meta.get("seq") ?? 0)) mirror.apply(() => mirror.sequence.skipTo(received));
}

function repairQueue(parts: LocalParts): void {
  const { mirror } = parts;
  const check = new StateCheck(mirror.db);
  const listings = new Listings(mirror.db);
  const odd = [...oddWork(check, mirror.declaration)];
  if (odd.length > 0)
    mirror.apply(() => {
      const dirtySeq = mirror.sequence.next();
      for (const { row } of odd) replaceOddWork(row, parts, listings, dirtySeq);
    });
  const broken = check.brokenListings();
  if (broken.length > 0)
    mirror.apply(() => broken.forEach(({ resource, variant }) => listings.close(resource, variant)));
}

/** Removes such a row, and queues the read that it stood for, as far as that can be known. */
function replaceOddWork(
  row: OwnRow<"_work">,
  { mirror: { declaration }, queue }: LocalParts,
  listings: Listings,
  dirtySeq: number,
): void {
  queue.remove(row.id);
  const resource = declaration.resources.find(({ name }) => name === row.resource);
  if (!resource) return;
  const [kind, ...rest] = row.target.split(":");
  const id = kind === "id" ? recordId(rest[0] ?? "") : null;
  if (id !== null && resource.detail !== undefined) queue.add(repairRead(resource.name, id, dirtySeq));
  if (kind !== "page") return;
  // A reading without one of its pages would never be complete.
  const variant = rest.slice(0, -1).join(":");
  queue.drop(resource.name, `page:${variant}:`);
  listings.close(resource.name, variant);
  if (variantsOf(resource).includes(variant)) queue.add(listPage(resource.name, { variant }, dirtySeq));
}

function repairInbox({ mirror, queue, clock, selected }: LocalParts): void {
  const check = new StateCheck(mirror.db);
  const ids = new EventIds(mirror.db);
  const isRepeated = check.repeatedEvents(1).length > 0;
  if (isRepeated || ids.misfiled() !== null)
    mirror.apply(() => {
      if (isRepeated) check.removeRepeatedEvents();
      ids.refile();
    });
  const all = new Set(mirror.declaration.resources.map(({ name }) => name));
  const ingest = new CompanyIngest({ mirror, queue, selected: selected ?? all, keyring: emptyKeyring });
  // Evaluates events again, and queues their reads.
  ingest.replay(check.oddEvents(), clock.nowMs());
  ingest.requeueLost(clock.nowMs());
}
