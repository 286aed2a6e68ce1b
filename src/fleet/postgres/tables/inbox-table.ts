import { dayMs } from "../../../base/clock.ts";
import { epochMs, intervalOf, FleetTable, type Sql } from "../connection.ts";
import { isLive } from "./owners-table.ts";

export interface InboxDelivery {
  readonly eventId: string;
  readonly body: Buffer;
}

export interface NumberedDelivery extends InboxDelivery {
  /** From 1, per company, without holes. */
  readonly seq: number;
  readonly receivedAtMs: number;
}

/** Deliveries in the published snapshot are kept for so long; their ids stay in the mirror for ever (I7). */
const keptMs = 7 * dayMs;
const prunedAtOnce = 5_000;
/** Bodies that one read gives at most. */
const maxReadBytes = 8_000_000;

/**
 * The fleet's inbox: deliveries of all companies, stored by any receiver and drained by the company's owner.
 *
 * Guarantee: when `add` returns, its deliveries and what `job` wrote are committed (I6). A company's numbers have no
 * holes and become visible in their order, so a reader that asks for what follows its position misses nothing. A
 * duplicate takes no number (I7).
 * Source of truth: tables `inbox` and `inbox_heads`.
 * Worst outcome of a crash: deliveries that were not answered are sent again by the service.
 */
export class InboxTable extends FleetTable {
  /**
   * Stores deliveries of one company in one transaction.
   *
   * @param job runs in the same transaction where a delivery is new and the company has no owner now: an owner looks for
   *   deliveries by itself. `UnattendedCompanies` finds what comes in the moment of a release.
   * @returns ids of the deliveries that are new
   */
  add(
    company: string,
    deliveries: readonly InboxDelivery[],
    job?: (sql: Sql) => Promise<void>,
  ): Promise<ReadonlySet<string>> {
    return this.postgres.transaction(async (sql) => {
      const { seq, isOwned } = await lockHead(sql, company);
      const added = await sql.query<{ eventId: string }>(insertNew, [
        company,
        seq,
        deliveries.map(({ eventId }) => textOf(eventId)),
        deliveries.map(({ body }) => body),
      ]);
      if (added.length > 0 && !isOwned) await job?.(sql);
      return new Set(added.map(({ eventId }) => idOf(eventId)));
    });
  }

  has(company: string, eventId: string): Promise<boolean> {
    const sql = `SELECT FROM fintoro_mirror.inbox i WHERE ${isEvent("$1", "$2::text")}`;
    return this.hasRow(sql, [company, textOf(eventId)]);
  }

  /**
   * Of those of these companies that ever received something: the last delivery's number, and the position in the
   * published snapshot.
   */
  heads(companies: readonly string[]) {
    return this.postgres.query<{ company: string; seq: number; drained: number }>(
      "SELECT company, seq, drained FROM fintoro_mirror.inbox_heads WHERE company = ANY($1::text[])",
      [companies],
    );
  }

  /** Deliveries after a position in their order: `limit` or 8 MB at most, and at least one where there is one. */
  async read(company: string, afterSeq: number, limit: number): Promise<NumberedDelivery[]> {
    const rows = await this.postgres.query<NumberedDelivery>(
      `SELECT seq, event_id AS "eventId", body, ${epochMs("received_at")} AS "receivedAtMs" FROM (
         SELECT *, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS bytes_before FROM (
           SELECT * FROM fintoro_mirror.inbox WHERE company = $1 AND seq > $2 ORDER BY seq LIMIT $3) AS next
       ) AS sized WHERE bytes_before < $4 ORDER BY seq`,
      [company, afterSeq, limit, maxReadBytes],
    );
    return rows.map((row) => ({ ...row, eventId: idOf(row.eventId) }));
  }

  /** Deletes old deliveries of all companies that are in a published snapshot. Gives how many; call it until 0. */
  async prune(): Promise<number> {
    return (await this.postgres.query(pruneInbox, [keptMs, prunedAtOnce])).length;
  }
}

/** Postgres' text cannot hold every id: U+0000 and half of a surrogate pair are in JSON. No two ids have one text. */
function textOf(eventId: string): string {
  const isPlain = eventId.isWellFormed() && !eventId.includes("\0") && !eventId.startsWith('"');
  return isPlain ? eventId : JSON.stringify(eventId);
}

function idOf(text: string): string {
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/** For the test that asks Postgres how it reads it. Nodes that prune at the same time take different rows. */
export const pruneInbox = `DELETE FROM fintoro_mirror.inbox WHERE ctid = ANY (ARRAY(
    SELECT i.ctid FROM fintoro_mirror.inbox i JOIN fintoro_mirror.inbox_heads h USING (company)
    WHERE i.received_at < now() - ${intervalOf("$1")} AND i.seq <= h.drained
    ORDER BY i.received_at LIMIT $2 FOR UPDATE OF i SKIP LOCKED))
  RETURNING 1`;

/** Locks the company's last number until the commit, so that numbers are given and become visible one after another. */
async function lockHead(
  sql: Sql,
  company: string,
): Promise<{ readonly seq: number; readonly isOwned: boolean }> {
  const [head] = await sql.query<{ seq: number; isOwned: boolean }>(lockedHead, [company]);
  if (head) return head;
  await sql.query(
    "INSERT INTO fintoro_mirror.inbox_heads (company, seq) VALUES ($1, 0) ON CONFLICT (company) DO NOTHING",
    [company],
  );
  return lockHead(sql, company);
}

const lockedHead = `SELECT h.seq, EXISTS (
    SELECT FROM fintoro_mirror.owners WHERE company = $1 AND ${isLive}) AS "isOwned"
  FROM fintoro_mirror.inbox_heads h WHERE h.company = $1 FOR NO KEY UPDATE OF h`;

/** SQL: is the row `i` this event of the company? In the words of the index `inbox_event`. */
function isEvent(company: string, id: string): string {
  return `i.company = ${company} AND left(i.event_id, 200) = left(${id}, 200)
    AND hashtextextended(i.event_id, 0) = hashtextextended(${id}, 0) AND i.event_id = ${id}`;
}

/** What is there is looked for after the lock was taken: this statement sees all that was committed before. */
const insertNew = `WITH given AS (
    SELECT id, min(n) AS n FROM unnest($3::text[]) WITH ORDINALITY AS g (id, n)
    WHERE NOT EXISTS (SELECT FROM fintoro_mirror.inbox i WHERE ${isEvent("$1", "g.id")})
    GROUP BY id),
  added AS (
    INSERT INTO fintoro_mirror.inbox (company, seq, event_id, body)
    SELECT $1, $2::bigint + row_number() OVER (ORDER BY n), id, ($4::bytea[])[n] FROM given
    RETURNING event_id),
  moved AS (
    UPDATE fintoro_mirror.inbox_heads SET seq = seq + (SELECT count(*) FROM added)
    WHERE company = $1 AND EXISTS (SELECT FROM added))
  SELECT event_id AS "eventId" FROM added`;
