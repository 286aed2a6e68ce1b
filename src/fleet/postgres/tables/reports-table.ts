import { epochMs, FleetTable, type Postgres } from "../connection.ts";
import { writeAsOwner, type Owner } from "./owners-table.ts";

/** A stored file that counts. Its name is never used again, and its content never changes. */
export interface ReportFile {
  /** Of its table or view; of the report database `report.db`. */
  readonly name: string;
  readonly key: string;
  /** Of the company's publication that stored it. */
  readonly number: number;
  readonly bytes: number;
  /** Null: it is the report database. */
  readonly rows: number | null;
  /** A hash: two files of a table with the same one show the same. */
  readonly content: string;
  /** The mirror's last change that is in it. */
  readonly seq: number;
  /** In the file; `company`, and of a view `report_date`, are in its key. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

export interface ReportRow {
  readonly epoch: number;
  /** Of the last publication that was begun; never the same again. */
  readonly number: number;
  /** Null: none was published. */
  readonly publishedAtMs: number | null;
  /** The mirror's last change that is in the Parquet files; null: none was published. */
  readonly seq: number | null;
  readonly files: readonly ReportFile[];
  /** What the report's questions say that concern everybody, by name; empty: nothing. Null: no report is stored. */
  readonly answers: Readonly<Record<string, string>> | null;
  /** Keys of files that may be stored and do not count. */
  readonly old: readonly string[];
  /** Those of them that nobody reads any more. */
  readonly due: readonly string[];
}

/** The catalogue, which keeps snapshots for as long as files are kept, learns of a publication later than this table. */
const lateMs = 3_600_000;

const nowMs = epochMs("clock_timestamp()");

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
    const write = `INSERT INTO fintoro_mirror.reports AS r (company, epoch, number, files, old)
      SELECT company, epoch, $4::bigint, '[]',
        (SELECT coalesce(jsonb_object_agg(key, ${nowMs}), '{}') FROM unnest($5::text[]) AS key)
      FROM owner
      ON CONFLICT (company) DO UPDATE SET epoch = excluded.epoch, number = excluded.number, old = r.old || excluded.old`;
    return writeAsOwner(this.postgres, owner, write, [number, keys]);
  }

  /** Ends what was begun: these files count, and those in `old` do not. Throws as `begin`. */
  publish(
    owner: Owner,
    { seq, files, answers, old }: Pick<ReportRow, "seq" | "files" | "answers" | "old">,
  ): Promise<void> {
    const write = `UPDATE fintoro_mirror.reports r
      SET published_at = clock_timestamp(), seq = $4, files = $5::jsonb, answers = $6::jsonb,
        old = (SELECT coalesce(jsonb_object_agg(key, coalesce(r.old -> key, to_jsonb(${nowMs}))), '{}')
          FROM unnest($7::text[]) AS key)
      FROM owner WHERE r.company = owner.company`;
    return writeAsOwner(this.postgres, owner, write, [seq, JSON.stringify(files), answers, old]);
  }

  /** Null: none was begun. */
  current(company: string): Promise<ReportRow | null> {
    const sql = `SELECT epoch, number, ${epochMs("published_at")} AS "publishedAtMs", seq, files, answers,
        ARRAY(SELECT jsonb_object_keys(old)) AS old,
        ARRAY(SELECT key FROM jsonb_each_text(old) WHERE value::bigint < ${nowMs} - $2::bigint) AS due
      FROM fintoro_mirror.reports WHERE company = $1`;
    return this.findRow(sql, [company, this.keptMs + lateMs]);
  }
}
