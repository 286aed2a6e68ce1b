import type { Db } from "../../store/database.ts";
import { removeRows } from "../../store/own-tables/own-rows.ts";
import { Repository } from "../../store/repository.ts";
import type { AgeLimit, Removable, RemovablePart } from "./old-rows.ts";
import { rowsAtOnce, sumOf } from "./old-rows.ts";

interface SelectedRun {
  readonly id: number;
  readonly at: string;
  readonly resumes: number | null;
  readonly bytes: number;
  /** What it read, how, and how it ended. */
  readonly kind: string;
  /** Lists it read whole, a JSON array. */
  readonly swept: string;
}

/**
 * Old runs, from the last on. Of each kind (the same tables, mode and outcome) the last one stays, so whatever asks
 * for the last run that was complete, failed or read a table finds the same as before; likewise the last that read a
 * list whole, the first whole run, those of open lists, and those that one of these resumes.
 *
 * Guarantee: the answers of Runs, and the number of the next run, stay the same.
 * Source of truth: table `_runs`.
 * Worst outcome of a crash: some old runs stay until the next prune.
 */
export class EndedRuns extends Repository implements Removable {
  private readonly limit: AgeLimit;
  private readonly kept: Set<number>;
  /** Kinds and lists whose last run was found. */
  private readonly found = new Set<string>();

  constructor(db: Db, limit: AgeLimit) {
    super(db);
    this.limit = limit;
    const sql = `SELECT run FROM _listings UNION
      SELECT min(id) FROM _runs WHERE outcome IN ('complete', 'partial')`;
    this.kept = new Set(this.selectColumn<number>(sql));
  }

  start(): number {
    return Number.MAX_SAFE_INTEGER;
  }

  find(from: number): RemovablePart {
    const tables = "SELECT key FROM json_each(report, '$.resources') ORDER BY key";
    const sql = `SELECT id, coalesce(finished_at, started_at) AS at, resumes,
        octet_length(report) + octet_length(swept) AS bytes,
        concat_ws(' ', mode, outcome, report ->> 'listed_at' IS NULL, (SELECT group_concat(key) FROM (${tables}))) AS kind,
        (SELECT json_group_array(key) FROM json_each(swept)) AS swept
      FROM _runs WHERE id < ? ORDER BY id DESC LIMIT ?`;
    const rows = this.selectAll<SelectedRun>(sql, from, rowsAtOnce);
    const going = rows.filter((row) => !this.mustStay(row));
    const remove = () => going.forEach(({ id }) => removeRows(this.db, "_runs", { id }));
    const next = rows.length === rowsAtOnce ? (rows.at(-1)?.id ?? null) : null;
    return { rows: going.length, bytes: sumOf(going.map(({ bytes }) => bytes)), next, remove };
  }

  private mustStay({ id, at, resumes, kind, swept }: SelectedRun): boolean {
    const facts = [kind, ...(JSON.parse(swept) as string[]).map((key) => `swept ${key}`)];
    const isLast = facts.some((fact) => !this.found.has(fact));
    for (const fact of facts) this.found.add(fact);
    const stays = isLast || at >= this.limit.until || this.kept.has(id);
    if (stays && resumes !== null) this.kept.add(resumes);
    return stays;
  }
}
