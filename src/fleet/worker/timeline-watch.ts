import { assert } from "../../base/errors.ts";
import { isoTime } from "../../base/clock.ts";
import type { Log } from "../../base/logger.ts";
import type { Timeline, TimelineMark, TimelineTable } from "../postgres/tables/timeline-table.ts";
import type { StoredMark } from "../snapshot/timeline-mark.ts";

export interface TimelineWatchParts {
  readonly table: Pick<TimelineTable, "read" | "beat" | "begin" | "isMarkDue">;
  readonly stored: StoredMark;
  readonly log: Log;
  /** Ends what is under way. */
  readonly closed: AbortSignal;
}

/** What was written to Postgres in the last seconds before it was lost is remembered by running nodes only. */
const markEveryMs = 20_000;

/**
 * Notices that Postgres was restored from a backup, or replaced: by its heartbeats, which this process and the store
 * remember. Then a new timeline begins.
 *
 * Guarantee: after `start`, and after each `look`, the database was not set back behind what this node or the store knew.
 * Source of truth: tables and mark as in `TimelineTable`.
 * Worst outcome of a crash: none; the next node compares again.
 */
export class TimelineWatch {
  private readonly parts: TimelineWatchParts;
  private known: Timeline | null = null;
  private isForeign = false;

  constructor(parts: TimelineWatchParts) {
    this.parts = parts;
  }

  /** To be asked after `start` only. */
  get current(): Timeline {
    assert(this.known, "the timeline was read");
    return this.known;
  }

  /** Compares with the store, before anything is claimed. Throws MirrorError `database`, and those of the store. */
  async start(): Promise<void> {
    const { table, stored, closed } = this.parts;
    // First: other nodes write newer ones.
    const mark = await stored.read(closed);
    const found = await table.read();
    const isSetBack = mark !== null && (isBehind(found, mark) || isOther(found, mark));
    this.known = isSetBack ? await this.begin(found, mark) : found;
    await this.beat();
    await stored.write(this.current, closed);
  }

  /** Compares with what this node saw last. Throws MirrorError `database`. */
  async look(): Promise<void> {
    const { current: known, parts } = this;
    const found = await parts.table.read();
    this.known = isBehind(found, known) ? await this.begin(found, known) : found;
  }

  /** A heartbeat. Throws MirrorError `database`. */
  async beat(): Promise<void> {
    const next = await this.parts.table.beat(this.current);
    if (next) this.known = next;
    else await this.look();
  }

  /** Compares with the store and writes the mark, if it is this node's turn. Throws as `start`. */
  async mark(): Promise<void> {
    const { table, stored, closed } = this.parts;
    if (!(await table.isMarkDue(this.current, markEveryMs))) return;
    const mark = await stored.read(closed);
    await this.look();
    const { current } = this;
    const isForeign = mark !== null && isOther(current, mark);
    if (isForeign && !this.isForeign) this.logForeign();
    this.isForeign = isForeign;
    if (isForeign) return;
    if (mark !== null && isBehind(current, mark)) this.known = await this.begin(current, mark);
    await stored.write(this.current, closed);
  }

  /** The mark was this database's when the node started: now two databases have one store. */
  private logForeign(): void {
    this.parts.log.error("another database writes to the same fleet.snapshots", {
      hint: "Give each fleet a place of its own; stop the workers of a database that was replaced.",
    });
  }

  private async begin(found: Timeline, known: TimelineMark): Promise<Timeline> {
    const timeline = await this.parts.table.begin(found, known);
    const { number, setBackToMs } = timeline;
    this.parts.log.warn(
      "Postgres was restored from a backup, or replaced: every company goes on from its newest snapshot, and is read whole",
      {
        timeline: number,
        last_heartbeat: setBackToMs === null ? null : isoTime(setBackToMs),
        hint: "What `fleet add` and `fleet remove` changed since is lost: run them again (docs/fleet.md).",
      },
    );
    return timeline;
  }
}

/** Is a database on the timeline of a mark, and not as far? */
function isBehind(found: TimelineMark, mark: TimelineMark): boolean {
  return found.id === mark.id && found.beats < mark.beats;
}

/** Is a mark of another database? One of an earlier timeline is not: a node ended before it was replaced. */
function isOther(found: TimelineMark, mark: TimelineMark): boolean {
  return found.id !== mark.id && found.number <= mark.number;
}
