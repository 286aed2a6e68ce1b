import { sql, type ExpressionBuilder } from "kysely";
import { FleetTable } from "../connection.ts";
import { epochMs, fromNow, isFound, jsonb, now } from "../fleet-database.ts";
import type { FleetDatabase, FleetDb } from "../fleet-database.ts";

/** What happened in the database since it was made or restored, and nothing that came after that backup. */
export type Timeline = Readonly<Awaited<ReturnType<typeof readTimeline>>>;

/** What names a moment of a timeline outside of Postgres. */
export type TimelineMark = Pick<Timeline, "number" | "id" | "beats">;

/** More than a company is ever claimed in one timeline. */
const epochsOfOne = 1_000_000_000;

/** Epochs of this timeline are higher than that, and those of earlier ones are not. */
export function epochBase({ number }: Pick<Timeline, "number">): number {
  return (number - 1) * epochsOfOne;
}

/** A company's first epoch, of the row of `timeline`. */
export const firstEpoch = sql<number>`(number - 1) * ${sql.lit(epochsOfOne)} + 1`;

/** Whom the companies of a restored database belong to: a node that was lost, so that other nodes take them. */
const restoredOwner = "(restored)";

function columns(eb: ExpressionBuilder<FleetDatabase, "timeline">) {
  return [
    ...(["number", "id", "beats"] as const),
    epochMs(eb.ref("started_at")).as("startedMs"),
    // The last heartbeat that the backup has; null: none was restored.
    epochMs(eb.ref("set_back_to")).as("setBackToMs"),
  ];
}

/**
 * On which timeline the database is.
 *
 * Guarantee: no epoch of an earlier timeline comes again. Of several nodes that notice a restore, one begins the new
 * timeline.
 * Source of truth: table `timeline`, which has one row; and the mark in the store (`worker/timeline-watch.ts`).
 * Worst outcome of a crash: the next node that looks begins the new timeline.
 */
export class TimelineTable extends FleetTable {
  read(): Promise<Timeline> {
    return readTimeline(this.db);
  }

  /** A node's heartbeat. Null: the database is not on this timeline any more, or was set back on it. */
  async beat({ id, beats }: TimelineMark): Promise<Timeline | null> {
    const beaten = await this.db
      .updateTable("timeline")
      .set((eb) => ({ beats: eb("beats", "+", 1), seen_at: now }))
      .where("id", "=", id)
      .where("beats", ">=", beats)
      .returning(columns)
      .executeTakeFirst();
    return beaten ?? null;
  }

  /** Is it this node's turn to write the mark? Once in so many milliseconds, of all nodes. */
  isMarkDue({ id }: TimelineMark, everyMs: number): Promise<boolean> {
    const marked = this.db
      .updateTable("timeline")
      .set({ marked_at: now })
      .where("id", "=", id)
      .where((eb) => eb.or([eb("marked_at", "is", null), eb("marked_at", "<", fromNow(-everyMs))]));
    return isFound(marked.returning("id"));
  }

  /**
   * Begins a new timeline, because the database was set back: it shows `found` where it was at `known` before. What it
   * says of owners and reports is true no more: nobody owns a company, everybody may have sent until now, and
   * reports are stored again. Does nothing where another node has begun one.
   */
  begin(found: TimelineMark, known: TimelineMark): Promise<Timeline> {
    return this.postgres.transaction(async (tx) => {
      await tx.query("SET LOCAL statement_timeout = 0");
      const present = await tx.db.selectFrom("timeline").select("id").forNoKeyUpdate().executeTakeFirst();
      if (present?.id === found.id) await setBack(tx.db, Math.max(found.number, known.number) + 1);
      return readTimeline(tx.db);
    });
  }
}

function readTimeline(db: FleetDb) {
  return db.selectFrom("timeline").select(columns).executeTakeFirstOrThrow();
}

async function setBack(db: FleetDb, number: number): Promise<void> {
  await db
    .updateTable("timeline")
    .set((eb) => ({ number, id: sql`gen_random_uuid()`, beats: 0, set_back_to: eb.ref("seen_at") }))
    .set({ started_at: now, seen_at: now, marked_at: null })
    .execute();
  const epoch = epochBase({ number });
  await db.updateTable("owners").set({ epoch, node: null, expires_at: now }).execute();
  await sql`INSERT INTO fintoro_mirror.owners (company, epoch, node, expires_at)
    SELECT name, ${epoch}::bigint, ${restoredOwner}, clock_timestamp() FROM fintoro_mirror.companies WHERE NOT removed
    ON CONFLICT (company) DO UPDATE SET node = excluded.node`.execute(db);
  const keys = sql`SELECT jsonb_object_agg(f ->> 'key', ${epochMs(now)}) FROM jsonb_array_elements(files) f`;
  const old = sql<never>`old || coalesce((${keys}), '{}')`;
  await db
    .updateTable("reports")
    .set({ published_at: null, seq: null, files: jsonb([]), old })
    .execute();
  await db.updateTable("alerts").set({ steps: null }).execute();
}
