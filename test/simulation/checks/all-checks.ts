import { unequal } from "./equality.ts";
import { doneByNothing, leftToRead, lostDeliveries, readTooSeldom, waitingWithoutRead } from "./events.ts";
import {
  changesUnlikeTheirRead,
  falseTombstones,
  staleOverwrites,
  unaskedDeletions,
  unreplayable,
} from "./history.ts";
import type { Check, MirrorContents, Observation } from "./mirror-contents.ts";
import { keptEvents, lostFields } from "./odd-records.ts";
import { forgottenOverlaps, overlappingChanges } from "./overlap.ts";
import { doneWithoutData, unqueuedWork, unreadReferences } from "./progress.ts";

/** What must hold of a mirror that nobody writes at the moment, after a crash too. */
const always: readonly Check[] = [
  unqueuedWork,
  unreadReferences,
  doneWithoutData,
  waitingWithoutRead,
  doneByNothing,
  readTooSeldom,
  unreplayable,
  changesUnlikeTheirRead,
  staleOverwrites,
  overlappingChanges,
  forgottenOverlaps,
  falseTombstones,
  unaskedDeletions,
  lostDeliveries,
  keptEvents,
  lostFields,
];

/** Every broken invariant of a mirror between two processes; what only takes longer to see is left out. */
export function brokenNow(mirror: MirrorContents, seen: Observation): string[] {
  return always.flatMap((check) => check(mirror, seen));
}

/** Every broken invariant once nothing changes, all events are in, and everything was read. */
export function brokenAtRest(mirror: MirrorContents, seen: Observation): string[] {
  return [...always, leftToRead, unequal].flatMap((check) => check(mirror, seen));
}
