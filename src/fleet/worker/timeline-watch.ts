import { assert, MirrorError } from "../../base/errors.ts";
import { objectIn } from "../../json/literal.ts";
import { isoOrNull } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import { ownRight, readText, type FileStore } from "../../file-store/file-store.ts";
import type { Timeline, TimelineMark, TimelineTable } from "../postgres/tables/timeline-table.ts";

/** What was written to Postgres in the last seconds before it was lost is remembered by running nodes only. */
const markEveryMs = 20_000;

/** The mark in the store, beside the snapshots: how far the database was. A restored database does not know. */
const markKey = ".fleet/timeline.json";

export type TimelineWatch = ReturnType<typeof createTimelineWatch>;

/**
 * Notices that Postgres was restored from a backup, or replaced: by its heartbeats, which this process and the store
 * remember. Then a new timeline begins. `closed` ends what is under way.
 *
 * Guarantee: after `start`, and after each `look`, the database was not set back behind what this node or the store knew.
 * Source of truth: tables and mark as in `TimelineTable`.
 */
export function createTimelineWatch(
  table: Pick<TimelineTable, "read" | "beat" | "begin" | "isMarkDue">,
  store: FileStore,
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
    current,
    /**
     * Compares with the store, before anything is claimed.
     *
     * @throws MirrorError `database`, those of the store, and `config` where something else stands in the mark's place
     */
    async start(): Promise<void> {
      // First: other nodes write newer ones.
      const mark = await readMark(store, closed);
      const found = await table.read();
      const isSetBack = mark !== null && (isBehind(found, mark) || isOther(found, mark));
      known = isSetBack ? await begin(found, mark) : found;
      await beat();
      await writeMark(store, current(), closed);
    },
    /** Compares with what this node saw last. Throws MirrorError `database`. */
    look,
    beat,
    /** Compares with the store and writes the mark, if it is this node's turn. Throws as `start`. */
    async mark(): Promise<void> {
      if (!(await table.isMarkDue(current(), markEveryMs))) return;
      const mark = await readMark(store, closed);
      await look();
      const seen = current();
      const isForeign = mark !== null && isOther(seen, mark);
      // The mark was this database's when the node started: now two databases have one store.
      if (isForeign && !hasForeign)
        log.error("another database writes to the same fleet.snapshots", {
          hint: "Give each fleet a place of its own; stop the workers of a database that was replaced.",
        });
      hasForeign = isForeign;
      if (isForeign) return;
      if (mark !== null && isBehind(seen, mark)) known = await begin(seen, mark);
      await writeMark(store, current(), closed);
    },
  };
}

/** Null: nothing is stored yet. */
async function readMark(store: FileStore, signal: AbortSignal): Promise<TimelineMark | null> {
  const text = await readText(store, markKey, signal);
  if (text === null) return null;
  const { number, id, beats } = objectIn(text);
  if (typeof number === "number" && typeof id === "string" && typeof beats === "number")
    return { number, id, beats };
  throw new MirrorError("config", `${markKey} in ${store.address} is not what a worker wrote there`, {
    hint: "It shows whether Postgres was restored from a backup. If that is not so, remove it.",
  });
}

async function writeMark(store: FileStore, { number, id, beats }: TimelineMark, signal: AbortSignal) {
  const text = `${JSON.stringify({ number, id, beats })}\n`;
  await store.put(markKey, Buffer.from(text), ownRight(signal));
}

/** Is a database on the timeline of a mark, and not as far? */
function isBehind(found: TimelineMark, mark: TimelineMark): boolean {
  return found.id === mark.id && found.beats < mark.beats;
}

/** Is a mark of another database? One of an earlier timeline is not: a node ended before it was replaced. */
function isOther(found: TimelineMark, mark: TimelineMark): boolean {
  return found.id !== mark.id && found.number <= mark.number;
}
