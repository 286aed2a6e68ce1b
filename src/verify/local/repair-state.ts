import { isoTime, type Clock } from "../../base/clock.ts";
import { ChangeLogCheck } from "../../state/checks/change-log-check.ts";
import { FileCheck } from "../../state/checks/file-check.ts";
import { InboxCheck } from "../../state/checks/inbox-check.ts";
import { QueueCheck } from "../../state/checks/queue-check.ts";
import { EventIds } from "../../state/inbox/event-ids.ts";
import { Listings } from "../../state/listings.ts";
import type { Mirror } from "../../state/mirror.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import { CompanyIngest } from "../../webhook/ingest/ingest.ts";
import { emptyKeyring } from "../../webhook/keys/keyring.ts";
import { oddWork, replaceOddWork } from "./odd-work.ts";

export interface RepairParts {
  readonly mirror: Mirror;
  readonly queue: WorkQueue;
  readonly clock: Clock;
  /** Names of the resources that the config mirrors. @default all */
  readonly selected?: ReadonlySet<string> | undefined;
}

/** In one transaction. */
const atOnce = 5_000;

/** Repairs what `checkState` finds; what is sound is not written. */
export function repairState(parts: RepairParts): void {
  const { mirror, clock } = parts;
  const log = new ChangeLogCheck(mirror.db);
  inParts(
    parts,
    () => log.broken(atOnce),
    (change) => log.mend(change),
  );
  const at = isoTime(clock.nowMs());
  inParts(
    parts,
    () => log.lostReads(atOnce),
    (read) => log.restoreRead(read, at),
  );
  repairSequence(parts);
  repairQueue(parts);
  repairInbox(parts);
}

/** Some at a time, until there are none. */
function inParts<T>({ mirror }: RepairParts, find: () => readonly T[], mend: (one: T) => void): void {
  for (let found = find(); found.length > 0; found = find())
    mirror.apply(() => found.forEach((one) => mend(one)));
}

function repairSequence({ mirror }: RepairParts): void {
  const names = mirror.manifest.resources.map(({ name }) => name);
  const received = new FileCheck(mirror.db).lastReceivedSeq(names);
  if (received > Number(mirror.meta.get("seq") ?? 0)) mirror.apply(() => mirror.sequence.skipTo(received));
}

function repairQueue({ mirror, queue }: RepairParts): void {
  const { manifest, db } = mirror;
  const check = new QueueCheck(db);
  const listings = new Listings(db);
  const odd = [...oddWork(check, manifest)];
  if (odd.length > 0)
    mirror.apply(() => {
      const dirtySeq = mirror.sequence.next();
      for (const one of odd) replaceOddWork(one, { manifest, check, queue, listings, dirtySeq });
    });
  const broken = check.brokenListings();
  if (broken.length > 0)
    mirror.apply(() => broken.forEach(({ resource, variant }) => listings.close(resource, variant)));
}

function repairInbox({ mirror, queue, clock, selected }: RepairParts): void {
  const check = new InboxCheck(mirror.db);
  const ids = new EventIds(mirror.db);
  const isRepeated = check.repeated(1).length > 0;
  if (isRepeated || ids.misfiled() !== null)
    mirror.apply(() => {
      if (isRepeated) check.removeRepeated();
      ids.refile();
    });
  const all = new Set(mirror.manifest.resources.map(({ name }) => name));
  const ingest = new CompanyIngest({ mirror, queue, selected: selected ?? all, keyring: emptyKeyring });
  replayAll(() => check.odd(atOnce), ingest, clock.nowMs());
  replayAll(() => check.lost(atOnce), ingest, clock.nowMs());
}

/** Evaluates events again, some at a time, and queues their reads. */
function replayAll(find: () => string[], ingest: CompanyIngest, nowMs: number): void {
  for (let found = find(); found.length > 0; found = find()) {
    const { missing, pruned } = ingest.replay(found, nowMs);
    if (missing.length + pruned.length > 0) return;
  }
}
