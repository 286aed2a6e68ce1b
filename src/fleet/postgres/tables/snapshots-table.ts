import { dayMs } from "../../../base/clock.ts";
import { MirrorError } from "../../../base/errors.ts";
import { intervalOf, isoText, FleetTable } from "../connection.ts";
import { assertOwner, type Owner } from "./owners-table.ts";

/** Which snapshot of a company counts, and what is in it. */
export interface SnapshotPointer extends Owner {
  readonly id: string;
  readonly seq: number;
  /** The mirror's position in the inbox. */
  readonly inbox_seq: number;
  /** Of the packed mirror. */
  readonly size_bytes: number;
  readonly sha256: string;
  /** ISO, by the node's clock. */
  readonly taken_at: string;
  /** Facts of the mirror for `fleet status`, by name. */
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface ChangeRow {
  /** The identity of the change log. */
  readonly log: string;
  readonly seq: number;
  readonly resource: string;
  readonly recordId: string;
  readonly op: string;
  /** ISO. */
  readonly at: string;
  readonly cause: string;
}

/** As long as deliveries: who follows the change log by SQL reads on within that time; the mirror has all of it. */
const changesKeptMs = 7 * dayMs;
const prunedAtOnce = 5_000;

/**
 * The pointer to each company's published snapshot, and the change log up to it.
 *
 * Guarantee: pointer, change log and inbox position move in one transaction that holds the ownership. What Postgres
 * shows of the change log is in the snapshot; its numbers never go back.
 * Source of truth: tables `snapshots` and `changes`.
 * Worst outcome of a crash: a snapshot is stored to which no pointer leads; the next one removes it.
 */
export class SnapshotsTable extends FleetTable {
  /**
   * Makes a stored snapshot the company's.
   *
   * @param changesAfter gives the snapshot's change log after the last number that was published, in order, some at once
   * @throws MirrorError `locked` where the company has another owner: then nothing has changed
   */
  publish(
    owner: Owner,
    snapshot: Omit<SnapshotPointer, keyof Owner>,
    changesAfter: (seq: number) => Iterable<readonly ChangeRow[]>,
  ): Promise<void> {
    const { company, epoch, node } = owner;
    return this.postgres.transaction(async (sql) => {
      await assertOwner(sql, owner);
      const last = "SELECT seq FROM fintoro_mirror.snapshots WHERE company = $1";
      const publishedSeq = (await sql.query<{ seq: number }>(last, [company]))[0]?.seq ?? 0;
      if (snapshot.seq < publishedSeq) throw wouldGoBack(company, snapshot.seq, publishedSeq);
      for (const changes of changesAfter(publishedSeq))
        await sql.query(insertChanges, [company, { changes }]);
      await sql.query(movePointer, [{ ...snapshot, company, epoch, node }]);
      // Last: receivers wait for this row.
      const drain = "UPDATE fintoro_mirror.inbox_heads SET drained = least(seq, $2) WHERE company = $1";
      await sql.query(drain, [company, snapshot.inbox_seq]);
    });
  }

  /** Null: none was published. */
  current(company: string): Promise<SnapshotPointer | null> {
    const sql = `SELECT company, epoch, node, id, seq, inbox_seq, size_bytes, sha256, ${isoText("taken_at")} AS taken_at, facts
      FROM fintoro_mirror.snapshots WHERE company = $1`;
    return this.findRow(sql, [company]);
  }

  /** Deletes the oldest changes of all companies that are kept no longer. Gives how many; call it until 0. */
  async pruneChanges(): Promise<number> {
    return (await this.postgres.query(pruneChanges, [changesKeptMs, prunedAtOnce])).length;
  }
}

/**
 * For the test that asks Postgres how it reads it. What is left of a company is the end of its log without a hole, as far
 * as it is committed: nodes that prune at the same time take different rows.
 */
export const pruneChanges = `DELETE FROM fintoro_mirror.changes WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM fintoro_mirror.changes WHERE published_at < now() - ${intervalOf("$1")}
    ORDER BY published_at LIMIT $2 FOR UPDATE SKIP LOCKED))
  RETURNING 1`;

function wouldGoBack(company: string, seq: number, publishedSeq: number): MirrorError {
  const message = `the snapshot of ${company} ends with change ${seq}, the published one with ${publishedSeq}`;
  const hint =
    "It was not published. The company goes on from the published snapshot when it is opened again.";
  return new MirrorError("database", message, { hint });
}

const insertChanges = `INSERT INTO fintoro_mirror.changes (company, log, seq, resource, record_id, op, at, cause)
  SELECT $1, log, seq, resource, "recordId", op, at, cause
  FROM jsonb_to_recordset($2::jsonb -> 'changes')
    AS change (log text, seq bigint, resource text, "recordId" text, op text, at timestamptz, cause text)`;

const pointerColumns = "epoch, node, id, seq, inbox_seq, size_bytes, sha256, taken_at, facts";
const movePointer = `WITH pointer AS (SELECT * FROM jsonb_populate_record(null::fintoro_mirror.snapshots, $1::jsonb))
  INSERT INTO fintoro_mirror.snapshots (company, ${pointerColumns}) SELECT company, ${pointerColumns} FROM pointer
  ON CONFLICT (company) DO UPDATE SET (${pointerColumns}) = (SELECT ${pointerColumns} FROM pointer)`;
