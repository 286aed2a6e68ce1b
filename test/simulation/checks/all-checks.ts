import type { Db } from "../../support/compare.ts";
import { leftToRead, lostDeliveries, misjudgedEvents } from "./deliveries.ts";
import { unequal } from "./equality.ts";
import { falseTombstones, neverShown, rowsUnlikeJson, staleOverwrites, unreplayable } from "./history.ts";
import type { Check, Observation } from "./observation.ts";
import { doneWithoutData, unqueuedWork } from "./progress.ts";

/** What must hold of a mirror that nobody writes at the moment, after a crash too. */
const always: readonly Check[] = [
  unqueuedWork,
  doneWithoutData,
  unreplayable,
  rowsUnlikeJson,
  staleOverwrites,
  neverShown,
  falseTombstones,
  lostDeliveries,
  misjudgedEvents,
];

/** Every broken invariant of a mirror between two processes. */
export function brokenNow(db: Db, seen: Observation): string[] {
  return always.flatMap((check) => check(db, seen));
}

/** Every broken invariant once nothing changes, all events are in, and everything was read. */
export function brokenAtRest(db: Db, seen: Observation): string[] {
  return [...always, leftToRead, unequal].flatMap((check) => check(db, seen));
}
