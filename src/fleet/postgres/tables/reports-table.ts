import { epochMs, FleetTable } from "../connection.ts";
import { noOwner, ownerCondition, valuesOf, type Owner } from "./owners-table.ts";

/** What a stored file holds. */
export interface ReportFile {
  /** A hash of its content; null: it is being replaced or removed, or that was cut off. */
  readonly content: string | null;
  readonly bytes: number;
  /** The mirror's last change that is in it. */
  readonly seq: number;
}

/** Stored files by their keys. */
export type ReportFiles = Readonly<Record<string, ReportFile>>;

export interface ReportRow {
  readonly company: string;
  readonly epoch: number;
  readonly publishedAtMs: number;
  /** The mirror's last change that is in the Parquet files. */
  readonly seq: number;
  readonly files: ReportFiles;
  /** What the report's questions say that concern everybody, by name; empty: nothing. Null: no report is stored. */
  readonly answers: Readonly<Record<string, string>> | null;
}

/**
 * Which report and Parquet files of each company are stored.
 *
 * Guarantee: moved by the company's owner only. A file that has a hash here holds that content.
 * Source of truth: table `reports`.
 * Worst outcome of a crash: nobody knows what the files without a hash hold; the next publication replaces them.
 */
export class ReportsTable extends FleetTable {
  /**
   * Notes in what is published which files are about to change: from here on they are this owner's. Their position and
   * time stay those of the last publication.
   * @throws MirrorError `locked` where the company has another owner
   */
  async begin(owner: Owner, files: ReportFiles): Promise<void> {
    const rows = await this.postgres.query(
      `WITH owner AS (${ownerCondition})
       UPDATE fintoro_mirror.reports r SET files = $4::jsonb, epoch = owner.epoch
       FROM owner WHERE r.company = owner.company
       RETURNING r.company`,
      [...valuesOf(owner), files],
    );
    if (rows.length === 0) throw noOwner(owner);
  }

  /** @throws MirrorError `locked` where the company has another owner */
  async publish(
    owner: Owner,
    { seq, files, answers = null }: Pick<ReportRow, "seq" | "files"> & Partial<ReportRow>,
  ): Promise<void> {
    const rows = await this.postgres.query(
      `WITH owner AS (${ownerCondition})
       INSERT INTO fintoro_mirror.reports (company, epoch, published_at, seq, files, answers)
       SELECT company, epoch, clock_timestamp(), $4::bigint, $5::jsonb, $6::jsonb FROM owner
       ON CONFLICT (company) DO UPDATE SET epoch = excluded.epoch, published_at = excluded.published_at,
         seq = excluded.seq, files = excluded.files, answers = excluded.answers
       RETURNING company`,
      [...valuesOf(owner), seq, files, answers],
    );
    if (rows.length === 0) throw noOwner(owner);
  }

  /** Null: none was published. */
  async current(company: string): Promise<ReportRow | null> {
    const [row] = await this.postgres.query<ReportRow>(
      `SELECT company, epoch, ${epochMs("published_at")} AS "publishedAtMs", seq, files, answers
       FROM fintoro_mirror.reports WHERE company = $1`,
      [company],
    );
    return row ?? null;
  }
}
