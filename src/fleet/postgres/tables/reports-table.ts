import { sql } from "kysely";
import { FleetTable, type Postgres } from "../connection.ts";
import { epochMs, jsonb, now, type RowOf } from "../fleet-database.ts";
import { writeAsOwner, type Owner } from "./owners-table.ts";

export type ReportRow = Readonly<NonNullable<Awaited<ReturnType<ReportsTable["current"]>>>>;

/** The catalogue, which keeps snapshots for as long as files are kept, learns of a publication later than this table. */
const lateMs = 3_600_000;

type OldFiles = RowOf<"reports", "old">["old"];
const nowMs = epochMs(now);

/**
 * Which report and Parquet files of each company count.
 *
 * Guarantee: moved by the company's owner only, from one publication to the next in one statement. Each file that may be
 * stored is named here.
 * Source of truth: table `reports`.
 * Worst outcome of a crash: files that were stored and do not count; they are removed like others.
 */
export class ReportsTable extends FleetTable {
  private readonly keptMs: number;

  /** @param keptMs for so long a file stays that does not count any more: whoever reads with it may end */
  constructor(postgres: Postgres, keptMs: number) {
    super(postgres);
    this.keptMs = keptMs;
  }

  /** Notes the files that are about to be stored. @throws MirrorError `locked` where the company has another owner */
  begin(owner: Owner, number: number, keys: readonly string[]): Promise<void> {
    const old = sql<OldFiles>`(
      SELECT coalesce(jsonb_object_agg(key, ${nowMs}), '{}') FROM unnest(${keys}::text[]) AS key)`;
    const bothOld = sql<OldFiles>`reports.old || excluded.old`;
    return writeAsOwner(this.db, owner, (db) =>
      db
        .insertInto("reports")
        .columns(["company", "epoch", "number", "files", "old"])
        .expression((eb) =>
          eb
            .selectFrom("owner")
            .select(["company", "epoch", eb.lit(number).as("number"), jsonb([]).as("files"), old.as("old")]),
        )
        .onConflict((on) => on.column("company").doUpdateSet({ epoch: owner.epoch, number, old: bothOld }))
        .returning("number"),
    );
  }

  /** Ends what was begun: these files count, and those in `old` do not. Throws as `begin`. */
  publish(owner: Owner, { seq, files, answers, old }: Omit<ReportRow, "epoch" | "number" | "due">) {
    const since = sql<OldFiles>`(
      SELECT coalesce(jsonb_object_agg(key, coalesce(reports.old -> key, to_jsonb(${nowMs}))), '{}')
      FROM unnest(${old}::text[]) AS key)`;
    return writeAsOwner(this.db, owner, (db) =>
      db
        .updateTable("reports")
        .from("owner")
        .set({ published_at: now, seq, files: jsonb(files), answers, old: since })
        .whereRef("reports.company", "=", "owner.company")
        .returning("number"),
    );
  }

  /** Null: none was begun. */
  async current(company: string) {
    // Keys of files that may be stored and do not count, and those of them that nobody reads any more.
    const old = sql<readonly string[]>`ARRAY(SELECT jsonb_object_keys(old))`;
    const due = sql<string[]>`ARRAY(SELECT key FROM jsonb_each_text(old)
      WHERE value::bigint < ${nowMs} - ${this.keptMs + lateMs}::bigint)`;
    const report = this.db
      .selectFrom("reports")
      .select(["epoch", "number", "seq", "files", "answers"])
      .select([old.as("old"), due.as("due")])
      .where("company", "=", company);
    return (await report.executeTakeFirst()) ?? null;
  }
}
