import { lastWholeRun } from "../../../src/status/event-status.ts";
import type { Db } from "../../../src/store/database.ts";
import { Runs } from "../../../src/state/runs.ts";
import { seededRandom } from "../seeded-random.ts";
import { dayMs, isoTime, type Clock } from "../../../src/base/clock.ts";
import { rememberIdentity } from "../../../src/state/meta.ts";
import type { Mirror } from "../../../src/state/mirror.ts";
import { pruneMirror, type PruneReport } from "../../../src/state/retention/prune-mirror.ts";
import type { Change } from "../../../src/store/apply/change-log.ts";
import { put, remove, replay, stampOf } from "./store.ts";

export const pruneMs = Date.UTC(2026, 10, 20, 9);

/** A clock that stands still; `onSleep` is called at each pause. */
export function stoppedClock(onSleep: () => unknown = () => undefined, nowMs = pruneMs): Clock {
  return { nowMs: () => nowMs, monotonicMs: () => 0, sleep: async () => void onSleep() };
}

type PruneParts = Parameters<typeof pruneMirror>[0];

export function prune(
  { db }: Pick<Mirror, "db">,
  kept: Partial<PruneParts["retention"]>,
  parts: Partial<PruneParts> = {},
): Promise<PruneReport> {
  const retention = { runsMs: null, inboxBodiesMs: null, changesMs: null, ...kept };
  const { signal } = new AbortController();
  return pruneMirror({ db, retention, clock: stoppedClock(), signal, ...parts });
}

/** Changes of people on so many days, the last of them yesterday: inserts, updates, deletions, returns. */
export function changeDaily(mirror: Mirror, days: number, perDay = 3): void {
  for (let day = 0; day < days; day++)
    for (let at = 0; at < perDay; at++) {
      const receivedAtMs = pruneMs - (days - day) * dayMs + at * 1_000;
      const stamp = stampOf(mirror, { receivedAtMs, cause: "confirm" });
      const id = 1 + ((day * perDay + at) % 7);
      if (day % 5 === 4 && at === 0) remove(mirror, "people", id, stamp);
      else put(mirror, "people", { id, name: `day ${day}`, email: "x".repeat(900), score: at }, { stamp });
    }
}

/** What the changes give that were pruned, and after them those that were left. */
export function replayOver(before: readonly Change[], left: readonly Change[]): Map<string, string> {
  const first = left[0]?.seq ?? Infinity;
  return replay([...before.filter(({ seq }) => seq < first), ...left]);
}

export const daysAgo = (days: number) => isoTime(pruneMs - days * dayMs);

/** Runs of many kinds over two years; what each read is a part of `tables`. */
export function makeRuns(mirror: Mirror, seed: number): void {
  const random = seededRandom(seed);
  const one = <T>(from: readonly T[]): T => from[Math.floor(random.next() * from.length)] as T;
  const runs = new Runs(mirror.db);
  rememberIdentity(mirror, { name: "Shop", salt: "5aac11c0", fingerprint: "", businessId: null });
  let open: number | null = null;
  for (let day = 700; day > 0; day--) {
    const outcome = one(["complete", "complete", "partial", "failed", "stopped", null]);
    const tables = one([["people"], ["people", "orders"], ["orders", "people", "notes"], ["notes"]]);
    const id = runs.begin(one(["incremental", "full", "quick"]), daysAgo(day), open, {});
    for (const name of tables) if (random.next() < 0.3) runs.noteSwept(id, name, daysAgo(day));
    const resources = Object.fromEntries(tables.map((name) => [name, {}]));
    const listed_at = random.next() < 0.2 ? daysAgo(day) : null;
    const report = { resources, listed_at, troubles: [], swept: runs.sweptIn(id) };
    if (outcome === null) runs.noteListed(id, report);
    else runs.finish(id, daysAgo(day), outcome, report);
    open = outcome === null ? id : null;
  }
}

export function answersOf(db: Db): unknown {
  const runs = new Runs(db);
  const names = ["people", "orders", "notes"];
  const some = [[], ...names.map((name) => [name]), ["people", "orders"], names];
  const last = runs.last();
  return {
    last,
    ended: runs.lastEnded(),
    swept: names.map((name) => runs.sweptTimes().get(name)),
    whole: some.map((tables) => lastWholeRun(db, tables)),
    chain: last && runs.firstOfChain(last.id),
    newest: runs.latest(1),
  };
}
