import { sql } from "kysely";
import { dayMs } from "../../../base/clock.ts";
import { MirrorError } from "../../../base/errors.ts";
import { FleetTable } from "../connection.ts";
import { intervalOf, isoText, jsonb } from "../fleet-database.ts";
import { assertOwner, type Owner } from "./owners-table.ts";

/** Which snapshot of a company counts, and what is in it. */
export type SnapshotPointer = Readonly<NonNullable<Awaited<ReturnType<SnapshotsTable["current"]>>>>;

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
    return this.postgres.transaction(async ({ db }) => {
      await assertOwner(db, owner);
      const last = db.selectFrom("snapshots").select("seq").where("company", "=", company);
      const publishedSeq = (await last.executeTakeFirst())?.seq ?? 0;
      if (snapshot.seq < publishedSeq) throw wouldGoBack(company, snapshot.seq, publishedSeq);
      for (const changes of changesAfter(publishedSeq)) await insertChanges(company, changes).execute(db);
      const { id, seq, inbox_seq, size_bytes, sha256, facts } = snapshot;
      const taken_at = sql<Date>`${snapshot.taken_at}::timestamptz`;
      const pointer = { epoch, node, id, seq, inbox_seq, size_bytes, sha256, taken_at, facts };
      await db
        .insertInto("snapshots")
        .values({ company, ...pointer })
        .onConflict((on) => on.column("company").doUpdateSet(pointer))
        .execute();
      // Last: receivers wait for this row.
      const drained = sql<number>`least(seq, ${inbox_seq})`;
      await db.updateTable("inbox_heads").set({ drained }).where("company", "=", company).execute();
    });
  }

  /** Times are ISO. Null: none was published. */
  async current(company: string) {
    const pointer = await this.db
      .selectFrom("snapshots")
      .select(["company", "epoch", "id", "seq", "inbox_seq", "size_bytes", "sha256", "node", "facts"])
      .select((eb) => isoText(eb.ref("taken_at")).as("taken_at"))
      .where("company", "=", company)
      .executeTakeFirst();
    return pointer ?? null;
  }

  /** Deletes the oldest changes of all companies that are kept no longer. Gives how many; call it until 0. */
  async pruneChanges(): Promise<number> {
    return (await pruneChanges(changesKeptMs, prunedAtOnce).execute(this.db)).rows.length;
  }
}

/**
 * For the test that asks Postgres how it reads it. What is left of a company is the end of its log without a hole, as far
 * as it is committed: nodes that prune at the same time take different rows.
 */
export function pruneChanges(olderMs: number, limit: number) {
  return sql`DELETE FROM fintoro_mirror.changes WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM fintoro_mirror.changes WHERE published_at < now() - ${intervalOf(olderMs)}
      ORDER BY published_at LIMIT ${limit} FOR UPDATE SKIP LOCKED))
    RETURNING 1`;
}

function wouldGoBack(company: string, seq: number, publishedSeq: number): MirrorError {
  const message = `the snapshot of ${company} ends with change ${seq}, the published one with ${publishedSeq}`;
  const hint =
    "It was not published. The company goes on from the published snapshot when it is opened again.";
  return new MirrorError("database", message, { hint });
}

function insertChanges(company: string, changes: readonly ChangeRow[]) {
  return sql`INSERT INTO fintoro_mirror.changes (company, log, seq, resource, record_id, op, at, cause)
    SELECT ${company}, log, seq, resource, "recordId", op, at, cause FROM jsonb_to_recordset(${jsonb(changes)})
      AS change (log text, seq bigint, resource text, "recordId" text, op text, at timestamptz, cause text)`;
}
