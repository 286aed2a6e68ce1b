import type { Db } from "../store/database.ts";

/** One execution, as it is remembered. `report` is what `sync --json` printed for it. */
export interface RunRow {
  readonly id: number;
  readonly mode: string;
  /** Of the process that made it. */
  readonly pid: number;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly outcome: string | null;
  readonly resumes: number | null;
  /** When each list that this run (and those it resumes) read whole was begun, ISO, by `sweepKey`. */
  readonly swept: Readonly<Record<string, string>>;
  readonly report: unknown;
}

/** A run that ended; times are ISO. */
export interface EndedRun {
  readonly id: number;
  readonly mode: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly outcome: string;
}

export class Runs {
  private readonly db: Db;

  constructor(db: Db) {
    this.db = db;
  }

  begin(mode: string, startedAt: string, resumes: number | null, swept: RunRow["swept"]): number {
    const sql = "INSERT INTO _runs (mode, started_at, resumes, pid, swept) VALUES (?, ?, ?, ?, ?)";
    const result = this.db.prepare(sql).run(mode, startedAt, resumes, process.pid, JSON.stringify(swept));
    return Number(result.lastInsertRowid);
  }

  /** In the transaction that closed the list. */
  noteSwept(id: number, key: string, startedAt: string): void {
    const sql = "UPDATE _runs SET swept = json_patch(swept, json_object(?, ?)) WHERE id = ?";
    this.db.prepare(sql).run(key, startedAt, id);
  }

  sweptIn(id: number): RunRow["swept"] {
    const swept = this.db.prepare("SELECT swept FROM _runs WHERE id = ?").pluck().get(id) as string;
    return JSON.parse(swept) as Record<string, string>;
  }

  /** When the last reading of this list that became whole began; null: never. */
  lastSwept(key: string): string | null {
    const sql = `SELECT s.value FROM _runs r, json_each(r.swept) s WHERE s.key = ? ORDER BY r.id DESC LIMIT 1`;
    return (this.db.prepare(sql).pluck().get(key) as string | undefined) ?? null;
  }

  finish(id: number, finishedAt: string, outcome: string, report: unknown): void {
    const sql = "UPDATE _runs SET finished_at = ?, outcome = ?, report = ? WHERE id = ?";
    this.db.prepare(sql).run(finishedAt, outcome, JSON.stringify(report), id);
  }

  /** The last run that ended, whoever made it; null: none did. */
  lastEnded(): EndedRun | null {
    const sql = `SELECT id, mode, outcome, started_at AS startedAt, finished_at AS finishedAt FROM _runs
      WHERE finished_at IS NOT NULL AND outcome IS NOT NULL ORDER BY id DESC LIMIT 1`;
    return (this.db.prepare(sql).get() as EndedRun | undefined) ?? null;
  }

  /** Runs that ended complete or partial, the latest first; each report is parsed when it is reached. */
  *successes(most: number): Generator<Pick<RunRow, "startedAt" | "report">> {
    const sql = `SELECT started_at AS startedAt, report FROM _runs WHERE outcome IN ('complete', 'partial')
      ORDER BY id DESC LIMIT ?`;
    const rows = this.db.prepare(sql).iterate(most) as Iterable<{ startedAt: string; report: string }>;
    for (const { startedAt, report } of rows) yield { startedAt, report: JSON.parse(report) as unknown };
  }

  latest(most: number): RunRow[] {
    const rows = this.db.prepare("SELECT * FROM _runs ORDER BY id DESC LIMIT ?").all(most) as {
      id: number;
      mode: string;
      pid: number;
      started_at: string;
      finished_at: string | null;
      outcome: string | null;
      resumes: number | null;
      swept: string;
      report: string;
    }[];
    return rows.map((row) => ({
      id: row.id,
      mode: row.mode,
      pid: row.pid,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      outcome: row.outcome,
      resumes: row.resumes,
      swept: JSON.parse(row.swept) as Record<string, string>,
      report: JSON.parse(row.report) as unknown,
    }));
  }
}
