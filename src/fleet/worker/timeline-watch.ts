import { assert } from "../../base/errors.ts";
import { isoOrNull } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import type { Timeline, TimelineMark, TimelineTable } from "../postgres/tables/timeline-table.ts";
import type { StoredMark } from "../snapshot/timeline-mark.ts";

/** What was written to Postgres in the last seconds before it was lost is remembered by running nodes only. */
const markEveryMs = 20_000;

export type TimelineWatch = ReturnType<typeof createTimelineWatch>;

/**
 * Notices that Postgres was restored from a backup, or replaced: by its heartbeats, which this process and the store
 * remember. Then a new timeline begins. `closed` ends what is under way.
 *
 * Guarantee: after `start`, and after each `look`, the database was not set back behind what this node or the store knew.
 * Source of truth: tables and mark as in `TimelineTable`.
 * Worst outcome of a crash: none; the next node compares again.
 */
export function createTimelineWatch(
  table: Pick<TimelineTable, "read" | "beat" | "begin" | "isMarkDue">,
  stored: StoredMark,
  log: Log,
  closed: AbortSignal,
) {
  let known: Timeline | null = null;
  let hasForeign = false;
  const current = (): Timeline => {
    assert(known, "the timeline was read");
    return known;
  };
  const begin = async (found: Timeline, before: TimelineMark): Promise<Timeline> => {
    const timeline = await table.begin(found, before);
    const { number, setBackToMs } = timeline;
    log.warn(
      "Postgres was restored from a backup, or replaced: every company goes on from its newest snapshot, and is read whole",
      {
        timeline: number,
        last_heartbeat: isoOrNull(setBackToMs),
        hint: "What `fleet add` and `fleet remove` changed since is lost: run them again (docs/fleet.md).",
      },
    );
    return timeline;
  };
  const look = async () => {
    const before = current();
    const found = await table.read();
    known = isBehind(found, before) ? await begin(found, before) : found;
  };
  const beat = async () => {
    const next = await table.beat(current());
    if (next) known = next;
    else await look();
  };
  return {
    /** To be asked after `start` only. */
    get current() {
      return current();
    },
    /** Compares with the store, before anything is claimed. Throws MirrorError `database`, and those of the store. */
    async start(): Promise<void> {
      // First: other nodes write newer ones.
      const mark = await stored.read(closed);
      const found = await table.read();
      const isSetBack = mark !== null && (isBehind(found, mark) || isOther(found, mark));
      known = isSetBack ? await begin(found, mark) : found;
      await beat();
      await stored.write(current(), closed);
    },
    /** Compares with what this node saw last. Throws MirrorError `database`. */
    look,
    beat,
    /** Compares with the store and writes the mark, if it is this node's turn. Throws as `start`. */
    async mark(): Promise<void> {
      if (!(await table.isMarkDue(current(), markEveryMs))) return;
      const mark = await stored.read(closed);
      await look();
      const seen = current();
      const isForeign = mark !== null && isOther(seen, mark);
      if (isForeign && !hasForeign) logForeign(log);
      hasForeign = isForeign;
      if (isForeign) return;
      if (mark !== null && isBehind(seen, mark)) known = await begin(seen, mark);
      await stored.write(current(), closed);
    },
  };
}

/** The mark was this database's when the node started: now two databases have one store. */
function logForeign(log: Log): void {
  log.error("another database writes to the same fleet.snapshots", {
    hint: "Give each fleet a place of its own; stop the workers of a database that was replaced.",
  });
}

/** Is a database on the timeline of a mark, and not as far? */
function isBehind(found: TimelineMark, mark: TimelineMark): boolean {
  return found.id === mark.id && found.beats < mark.beats;
}

/** Is a mark of another database? One of an earlier timeline is not: a node ended before it was replaced. */
function isOther(found: TimelineMark, mark: TimelineMark): boolean {
  return found.id !== mark.id && found.number <= mark.number;
}
