import { sql, type Expression, type RawBuilder } from "kysely";
import { dayMs } from "../../../base/clock.ts";
import { FleetTable, type Sql } from "../connection.ts";
import { epochMs, intervalOf, isFound } from "../fleet-database.ts";
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
  add(company: string, deliveries: readonly InboxDelivery[], job?: (sql: Sql) => Promise<void>) {
    return this.postgres.transaction(async (tx) => {
      // Built by the pool's kysely: one of the transaction's own costs more than both statements.
      const run = <Row>(built: RawBuilder<Row>) => {
        const { sql: text, parameters } = built.compile(this.db);
        return tx.query<Row>(text, parameters);
      };
      const { seq, isOwned } = await lockHead(run, company);
      const added = await run(insertNew(company, seq, deliveries));
      if (added.length > 0 && !isOwned) await job?.(tx);
      return new Set(added.map(({ eventId }) => idOf(eventId)));
    });
  }

  has(company: string, eventId: string): Promise<boolean> {
    const id = sql<string>`${textOf(eventId)}::text`;
    return isFound(this.db.selectFrom("inbox as i").where(isEvent(company, id)));
  }

  /** Of those that ever received something: the last delivery's number, and the position in the published snapshot. */
  heads(companies: readonly string[]) {
    const heads = this.db.selectFrom("inbox_heads").select(["company", "seq", "drained"]);
    return heads.where("company", "=", sql<string>`ANY(${companies})`).execute();
  }

  /** Deliveries after a position in their order: `limit` or 8 MB at most, and at least one where there is one. */
  async read(company: string, afterSeq: number, limit: number): Promise<NumberedDelivery[]> {
    const { rows } = await sql<NumberedDelivery>`
      SELECT seq, event_id AS "eventId", body, ${epochMs(sql.ref("received_at"))} AS "receivedAtMs" FROM (
        SELECT *, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS bytes_before FROM (
          SELECT * FROM fintoro_mirror.inbox WHERE company = ${company} AND seq > ${afterSeq}
          ORDER BY seq LIMIT ${limit}) AS next
      ) AS sized WHERE bytes_before < ${maxReadBytes} ORDER BY seq`.execute(this.db);
    return rows.map((row) => ({ ...row, eventId: idOf(row.eventId) }));
  }

  /** Deletes old deliveries of all companies that are in a published snapshot. Gives how many; call it until 0. */
  async prune(): Promise<number> {
    return (await pruneInbox(keptMs, prunedAtOnce).execute(this.db)).rows.length;
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
export function pruneInbox(olderMs: number, limit: number) {
  return sql`DELETE FROM fintoro_mirror.inbox WHERE ctid = ANY (ARRAY(
      SELECT i.ctid FROM fintoro_mirror.inbox i JOIN fintoro_mirror.inbox_heads h USING (company)
      WHERE i.received_at < now() - ${intervalOf(olderMs)} AND i.seq <= h.drained
      ORDER BY i.received_at LIMIT ${limit} FOR UPDATE OF i SKIP LOCKED))
    RETURNING 1`;
}

type Run = <Row>(built: RawBuilder<Row>) => Promise<Row[]>;

/** Locks the company's last number until the commit, so that numbers are given and become visible one after another. */
async function lockHead(run: Run, company: string): Promise<{ seq: number; isOwned: boolean }> {
  const [head] = await run(sql<{ seq: number; isOwned: boolean }>`SELECT h.seq, EXISTS (
      SELECT FROM fintoro_mirror.owners WHERE company = ${company} AND ${isLive}) AS "isOwned"
    FROM fintoro_mirror.inbox_heads h WHERE h.company = ${company} FOR NO KEY UPDATE OF h`);
  if (head) return head;
  await run(sql`INSERT INTO fintoro_mirror.inbox_heads (company, seq) VALUES (${company}, 0)
    ON CONFLICT (company) DO NOTHING`);
  return lockHead(run, company);
}

/** Is the row `i` this event of the company? In the words of the index `inbox_event`. */
function isEvent(company: string, id: Expression<string>) {
  return sql<boolean>`i.company = ${company} AND left(i.event_id, 200) = left(${id}, 200)
    AND hashtextextended(i.event_id, 0) = hashtextextended(${id}, 0) AND i.event_id = ${id}`;
}

/** What is there is looked for after the lock was taken: this statement sees all that was committed before. */
function insertNew(company: string, seq: number, deliveries: readonly InboxDelivery[]) {
  const ids = deliveries.map(({ eventId }) => textOf(eventId));
  const bodies = deliveries.map(({ body }) => body);
  return sql<{ eventId: string }>`WITH given AS (
      SELECT id, min(n) AS n FROM unnest(${ids}::text[]) WITH ORDINALITY AS g (id, n)
      WHERE NOT EXISTS (SELECT FROM fintoro_mirror.inbox i WHERE ${isEvent(company, sql.ref("g.id"))})
      GROUP BY id),
    added AS (
      INSERT INTO fintoro_mirror.inbox (company, seq, event_id, body)
      SELECT ${company}, ${seq}::bigint + row_number() OVER (ORDER BY n), id, (${bodies}::bytea[])[n] FROM given
      RETURNING event_id),
    moved AS (
      UPDATE fintoro_mirror.inbox_heads SET seq = seq + (SELECT count(*) FROM added)
      WHERE company = ${company} AND EXISTS (SELECT FROM added))
    SELECT event_id AS "eventId" FROM added`;
}
