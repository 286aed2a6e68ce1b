import { dayMs } from "../../../base/clock.ts";
import { heartbeatMs, type Span } from "../../../state/uptime-log.ts";
import { epochMs, intervalOf, FleetTable } from "../connection.ts";

/** A longer silence of all receivers is a gap, as in the uptime log of a mirror. */
const missedMs = 4 * heartbeatMs;

/** As long as in the uptime log of a mirror. */
const keptMs = 30 * dayMs;

/**
 * When at least one receiver of the fleet answered deliveries. A receiver beats every `heartbeatMs` while it can store.
 *
 * Guarantee: a span never covers more than the truth and one heartbeat; times are of Postgres' clock.
 * Source of truth: table `receiving`.
 * Worst outcome of a crash: up to one heartbeat is missing, and a run is made that was not needed.
 */
export class ReceivingTable extends FleetTable {
  /** A receiver's heartbeat: the last span goes on, or after a gap a new one begins. */
  async beat(): Promise<void> {
    const isExtended = await this.hasRow(
      `UPDATE fintoro_mirror.receiving SET seen_at = clock_timestamp()
       WHERE id = (SELECT max(id) FROM fintoro_mirror.receiving)
         AND seen_at > clock_timestamp() - ${intervalOf("$1")} RETURNING id`,
      [missedMs],
    );
    if (isExtended) return;
    // Two receivers that begin at once make two spans, which say the same.
    await this.postgres.query(
      `INSERT INTO fintoro_mirror.receiving (started_at, seen_at) VALUES (clock_timestamp(), clock_timestamp())`,
    );
    await this.postgres.query(
      `DELETE FROM fintoro_mirror.receiving WHERE seen_at < clock_timestamp() - ${intervalOf("$1")}`,
      [keptMs],
    );
  }

  /** Spans that end at `sinceMs` or later, the oldest first. */
  spansSince(sinceMs: number): Promise<Span[]> {
    return this.postgres.query(
      `SELECT ${epochMs("started_at")} AS "startedMs", ${epochMs("seen_at")} AS "seenMs"
       FROM fintoro_mirror.receiving WHERE seen_at >= to_timestamp($1::float8 / 1000) ORDER BY started_at`,
      [sinceMs],
    );
  }
}
