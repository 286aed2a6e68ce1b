import { epochMs, intervalOf, FleetTable, onlyRow, type Sql } from "../connection.ts";

/**
 * What happened in the database since it was made, or since it was restored from a backup last. What came after the
 * backup is not in it.
 */
export interface Timeline {
  /** From 1; higher with each restore. */
  readonly number: number;
  /** Random: the databases of two fleets never have the same. */
  readonly id: string;
  /** Heartbeats of nodes. It grows only; where it is lower than it was, the database was set back. */
  readonly beats: number;
  readonly startedMs: number;
  /** The last heartbeat that the backup has; null: none was restored. */
  readonly setBackToMs: number | null;
}

/** What names a moment of a timeline outside of Postgres. */
export type TimelineMark = Pick<Timeline, "number" | "id" | "beats">;

/** More than a company is ever claimed in one timeline. */
const epochsOfOne = 1_000_000_000;

/** Epochs of this timeline are higher than that, and those of earlier ones are not. */
export function epochBase({ number }: Pick<Timeline, "number">): number {
  return (number - 1) * epochsOfOne;
}

/** SQL: the same, of the row of `timeline`. */
export const epochBaseSql = `(number - 1) * ${epochsOfOne}`;

/** Whom the companies of a restored database belong to: a node that was lost, so that other nodes take them. */
const restoredOwner = "(restored)";

const columns = `number, id, beats, ${epochMs("started_at")} AS "startedMs",
  ${epochMs("set_back_to")} AS "setBackToMs"`;

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
    return readTimeline(this.postgres);
  }

  /** A node's heartbeat. Null: the database is not on this timeline any more, or was set back on it. */
  beat({ id, beats }: TimelineMark): Promise<Timeline | null> {
    const sql = `UPDATE fintoro_mirror.timeline SET beats = beats + 1, seen_at = clock_timestamp()
      WHERE id = $1::uuid AND beats >= $2 RETURNING ${columns}`;
    return this.findRow(sql, [id, beats]);
  }

  /** Is it this node's turn to write the mark? Once in so many milliseconds, of all nodes. */
  isMarkDue({ id }: TimelineMark, everyMs: number): Promise<boolean> {
    const sql = `UPDATE fintoro_mirror.timeline SET marked_at = clock_timestamp()
      WHERE id = $1::uuid AND (marked_at IS NULL OR marked_at < clock_timestamp() - ${intervalOf("$2")}) RETURNING 1`;
    return this.hasRow(sql, [id, everyMs]);
  }

  /**
   * Begins a new timeline, because the database was set back: it shows `found` where it was at `known` before. What it
   * says of owners and reports is true no more: nobody owns a company, everybody may have sent until now, and
   * reports are stored again. Does nothing where another node has begun one.
   */
  begin(found: TimelineMark, known: TimelineMark): Promise<Timeline> {
    return this.postgres.transaction(async (sql) => {
      await sql.query("SET LOCAL statement_timeout = 0");
      const [present] = await sql.query<{ id: string }>(
        "SELECT id FROM fintoro_mirror.timeline FOR NO KEY UPDATE",
      );
      if (present?.id === found.id) await setBack(sql, Math.max(found.number, known.number) + 1);
      return readTimeline(sql);
    });
  }
}

function readTimeline(sql: Sql): Promise<Timeline> {
  return onlyRow(sql, `SELECT ${columns} FROM fintoro_mirror.timeline`);
}

async function setBack(sql: Sql, number: number): Promise<void> {
  await sql.query(
    `UPDATE fintoro_mirror.timeline SET number = $1, id = gen_random_uuid(), beats = 0, set_back_to = seen_at,
       started_at = clock_timestamp(), seen_at = clock_timestamp(), marked_at = NULL`,
    [number],
  );
  const base = epochBase({ number });
  await sql.query(
    "UPDATE fintoro_mirror.owners SET epoch = $1, node = NULL, expires_at = clock_timestamp()",
    [base],
  );
  await sql.query(
    `INSERT INTO fintoro_mirror.owners (company, epoch, node, expires_at)
     SELECT name, $1::bigint, $2, clock_timestamp() FROM fintoro_mirror.companies WHERE NOT removed
     ON CONFLICT (company) DO UPDATE SET node = excluded.node`,
    [base, restoredOwner],
  );
  await sql.query(
    `UPDATE fintoro_mirror.reports SET published_at = NULL, seq = NULL, files = '[]', old = old || coalesce(
       (SELECT jsonb_object_agg(f ->> 'key', ${epochMs("clock_timestamp()")}) FROM jsonb_array_elements(files) f), '{}')`,
  );
  await sql.query("UPDATE fintoro_mirror.alerts SET steps = NULL");
}
