import { isObject } from "../json/literal.ts";
import type { OwnRow } from "../store/own-tables/mirror-tables.ts";
import { insertRow, parseStored, Repository, selectRows, updateRows } from "../store/own-tables/statement.ts";
import { lastBeforeRestore } from "./meta.ts";

/** A `quick` run proves nothing: it counts in no question about what was read whole. */
export type RunMode = OwnRow<"_runs">["mode"];

/** One execution of `sync`. Times are ISO. */
export interface RunRow {
  readonly id: number;
  readonly mode: RunMode;
  readonly pid: number;
  readonly startedAt: string;
  readonly finishedAt: string | null;
  readonly outcome: string | null;
  readonly resumes: number | null;
  /** When each list was begun that this run, or one it resumes, read whole; by `sweepKey`. */
  readonly swept: Readonly<Record<string, string>>;
  /** What `sync --json` printed for it. */
  readonly report: unknown;
}

export type EndedRun = Pick<RunRow, "id" | "mode" | "startedAt"> & {
  readonly finishedAt: string;
  readonly outcome: string;
  /** Why it ended early; null: it did not. */
  readonly error: string | null;
};

/** A week of runs of named tables, one every five minutes. */
const mostSearched = 2_000;

/**
 * Runs and what they reported.
 *
 * Guarantee: a list is noted as swept in the transaction that closes it, so a killed run counts for what it read.
 * Source of truth: table `_runs`.
 * Worst outcome of a crash: a run without an end; the next one resumes it.
 */
export class Runs extends Repository {
  begin(mode: RunMode, startedAt: string, resumes: number | null, swept: RunRow["swept"]): number {
    const row = { mode, started_at: startedAt, resumes, pid: process.pid, swept: JSON.stringify(swept) };
    return insertRow(this.db, "_runs", row);
  }

  /** Notes when a list was begun that is read whole; in the transaction that closes it. */
  noteSwept(id: number, key: string, startedAt: string): void {
    const sql = "UPDATE _runs SET swept = json_patch(swept, json_object(?, ?)) WHERE id = ?";
    this.execute(sql, key, startedAt, id);
  }

  sweptIn(id: number): RunRow["swept"] {
    const [run] = selectRows(this.db, "_runs", ["swept"], { id });
    return parseStored(this.db, run?.swept ?? "{}", isObject) as RunRow["swept"];
  }

  /** When the last whole reading of each list was begun, by `sweepKey`; `sinceRestore`: by a run after a restore. */
  sweptTimes(sinceRestore = false): ReadonlyMap<string, string> {
    const sql = `SELECT s.key, s.value, max(r.id) FROM _runs r, json_each(r.swept) s
      WHERE mode <> 'quick' AND r.id > ${sinceRestore ? lastBeforeRestore : "0"} GROUP BY s.key`;
    const rows = this.selectAll<{ readonly key: string; readonly value: string }>(sql);
    return new Map(rows.map(({ key, value }) => [key, value]));
  }

  /** The last run that read lists whole, or was to, since the mirror was restored from a backup; null: there was none. */
  last(): RunRow | null {
    return this.latest(1, `WHERE mode <> 'quick' AND id > ${lastBeforeRestore}`)[0] ?? null;
  }

  /** The first of the runs that this one continues; itself where there is none. */
  firstOfChain(id: number): Pick<RunRow, "id" | "startedAt"> {
    const sql = `WITH RECURSIVE chain(id, resumes, startedAt) AS (
        SELECT id, resumes, started_at FROM _runs WHERE id = ?
        UNION SELECT r.id, r.resumes, r.started_at FROM _runs r, chain WHERE r.id = chain.resumes)
      SELECT id, startedAt FROM chain ORDER BY id LIMIT 1`;
    const [first] = this.selectAll<Pick<RunRow, "id" | "startedAt">>(sql, id);
    if (!first) throw new Error(`broken promise: there is a run ${id}`);
    return first;
  }

  finish(id: number, finishedAt: string, outcome: string, report: unknown): void {
    const end = { finished_at: finishedAt, outcome, report: JSON.stringify(report) };
    updateRows(this.db, "_runs", end, { id });
  }

  /** Keeps what a run reports before its scrub: killed after this, it counts as one that read everything listed. */
  noteListed(id: number, report: unknown): void {
    updateRows(this.db, "_runs", { report: JSON.stringify(report) }, { id });
  }

  /** The last run that ended, as its lists did: one whose scrub alone is left or was cut off counts. Null: none. */
  lastEnded(): EndedRun | null {
    const listed = "CASE json_array_length(report, '$.troubles') WHEN 0 THEN 'complete' ELSE 'partial' END";
    const sql = `SELECT id, mode, started_at AS startedAt,
        CASE WHEN report ->> 'listed_at' IS NULL THEN outcome ELSE ${listed} END AS outcome,
        coalesce(finished_at, report ->> 'listed_at') AS finishedAt, report ->> '$.error.message' AS error FROM _runs
      WHERE mode <> 'quick' AND (outcome IS NOT NULL OR report ->> 'listed_at' IS NOT NULL)
      ORDER BY id DESC LIMIT 1`;
    return this.selectAll<EndedRun>(sql)[0] ?? null;
  }

  requestsSince(at: string): number {
    const sql = "SELECT coalesce(sum(report ->> '$.requests.total'), 0) FROM _runs WHERE finished_at >= ?";
    return this.selectColumn<number>(sql, at)[0] ?? 0;
  }

  /** Runs since a restore that read everything listed, the latest first. */
  successes(): Generator<Pick<RunRow, "startedAt" | "report">> {
    const isSuccess = "(outcome IN ('complete', 'partial') OR report ->> 'listed_at' IS NOT NULL)";
    return this.whole(`id > ${lastBeforeRestore} AND ${isSuccess}`);
  }

  /** Runs that read lists whole, or were to, the latest first; a report is parsed when it is reached. */
  *whole(condition = "TRUE"): Generator<Pick<RunRow, "startedAt" | "report">> {
    const sql = `SELECT started_at AS startedAt, report FROM _runs
      WHERE mode <> 'quick' AND ${condition} ORDER BY id DESC LIMIT ${mostSearched}`;
    for (const { startedAt, report } of this.statement(sql).iterate() as Iterable<StoredRun>)
      yield { startedAt, report: parseStored(this.db, report, isObject) };
  }

  latest(most: number, where = ""): RunRow[] {
    const sql = `SELECT id, mode, pid, started_at AS startedAt, finished_at AS finishedAt, outcome, resumes, swept,
      report FROM _runs ${where} ORDER BY id DESC LIMIT ?`;
    return this.selectAll<StoredRun>(sql, most).map((row) => ({
      ...row,
      swept: parseStored(this.db, row.swept, isObject) as RunRow["swept"],
      report: parseStored(this.db, row.report, isObject),
    }));
  }
}

type StoredRun = Omit<RunRow, "swept" | "report"> & Readonly<Record<"swept" | "report", string>>;
