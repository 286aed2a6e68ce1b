import { isoTime } from "../base/clock.ts";
import { canonicalId, type RecordId } from "../base/ids.ts";
import { Repository } from "../store/own-tables/statement.ts";
import { quoted } from "../store/sql-text.ts";
import { knowsResource } from "../store/tables/stored-records.ts";
import { fenceTable } from "../store/tables/table-layout.ts";

/** Records of one table that the scrub may read again. */
export interface ScrubSource {
  readonly table: string;
  /** The resource whose list below each record is read; null: the record's own detail. */
  readonly listOf: string | null;
  /** A date that each of its records has; null: there is none. */
  readonly date: string | null;
  readonly referrers: readonly {
    readonly table: string;
    readonly column: string;
    readonly date: string | null;
  }[];
}

/** One read that the scrub may make. */
export interface ScrubCandidate {
  readonly source: ScrubSource;
  readonly id: RecordId;
  /** Epoch milliseconds. */
  readonly readAtMs: number;
}

/** Records last read at or before `untilMs` are candidates; epoch milliseconds. */
interface ScrubTimes {
  readonly untilMs: number;
  readonly nowMs: number;
}

/** Details and lists of parents by the time of their last read. Never writes. */
export class ScrubCandidates extends Repository {
  /** How many were read before, and when the oldest of them was, epoch milliseconds; null: there is none. */
  readBefore(sources: readonly ScrubSource[]) {
    const found = this.known(sources).map((source) => {
      const reads = `FROM (${readsOf(source)})`;
      // Lists of parents have no index of their times: both are found at once. A detail's minimum stands alone, as below.
      const oldest = source.listOf === null ? `(SELECT min(readAt) ${reads})` : "min(readAt)";
      const sql = `SELECT count(*) AS count, ${oldest} AS oldestMs ${reads}`;
      return this.statement(sql).get() as { readonly count: number; readonly oldestMs: number | null };
    });
    const times = found.flatMap(({ oldestMs }) => oldestMs ?? []);
    return { count: found.reduce((sum, { count }) => sum + count, 0), oldestMs: leastOf(times) };
  }

  /** When the one was read that was read longest ago, epoch milliseconds; null: there is none. */
  oldestMs(sources: readonly ScrubSource[]): number | null {
    // Alone in its statement, a minimum is the first entry of an index.
    const times = this.known(sources).flatMap((source) =>
      this.selectColumn<number | null>(`SELECT min(readAt) FROM (${readsOf(source)})`),
    );
    return leastOf(times.filter((ms) => ms !== null));
  }

  private known(sources: readonly ScrubSource[]): readonly ScrubSource[] {
    const isKnown = ({ table }: Pick<ScrubSource, "table">) => knowsResource(this.db, table);
    return sources
      .filter(isKnown)
      .map((source) => ({ ...source, referrers: source.referrers.filter(isKnown) }));
  }

  /** Those last read at or before this moment, the oldest first. */
  stalest(sources: readonly ScrubSource[], times: ScrubTimes, most: number): ScrubCandidate[] {
    return this.oldest(sources, { ...times, most }, () => "true");
  }

  /**
   * Of those, the ones with activity since: the record or one that refers to it changed or has a date since, or an
   * event named it. What the first run inserted is no change.
   */
  recent(
    sources: readonly ScrubSource[],
    { sinceMs, ...times }: ScrubTimes & { readonly sinceMs: number },
    most: number,
  ): ScrubCandidate[] {
    const since = isoTime(sinceMs);
    const [first] = this.selectColumn<string | null>(firstWholeRun);
    const change = this.firstSince(changes, first && first > since ? first : since);
    const event = this.firstSince(events, since);
    const values = { ...times, since, change, event, most };
    return this.oldest(sources, values, ({ table, date, referrers }) => {
      const active = [{ table, column: "id", date }, ...referrers].map(activeIds).join(" UNION ");
      const named = `SELECT resource_id FROM _inbox WHERE resource = '${table}' AND seq >= @event`;
      return `id IN (${active} UNION ${named})`;
    });
  }

  private oldest(
    sources: readonly ScrubSource[],
    values: ScrubTimes & { readonly most: number },
    condition: (source: ScrubSource) => string,
  ): ScrubCandidate[] {
    const found = this.known(sources).flatMap((source) => {
      // What was read in the future was read before the clock was set back, nobody knows when: it is the oldest.
      const dated = `SELECT id, iif(readAt > @nowMs, 0, readAt) AS readAt FROM (${readsOf(source)})`;
      const sql = `SELECT id, readAt FROM (${dated}) WHERE readAt <= @untilMs AND ${condition(source)}
        ORDER BY readAt LIMIT @most`;
      const rows = this.statement(sql, "cells").all(values) as [bigint, bigint][];
      return rows.map(([id, readAt]) => ({ source, id: canonicalId(id), readAtMs: Number(readAt) }));
    });
    return found.toSorted((a, b) => a.readAtMs - b.readAtMs).slice(0, values.most);
  }

  /** The number of the first at or after this moment, by bisection: times have no index, and the tables grow for years. */
  private firstSince({ first, last, next }: typeof changes, since: string): number {
    const [least, most] = [first, last].map((sql) => this.selectColumn<number | null>(sql)[0]);
    let [low, high] = [least ?? 1, (most ?? 0) + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [at] = this.selectColumn<string>(next, middle);
      if (at !== undefined && at < since) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function leastOf(times: readonly number[]): number | null {
  return times.length === 0 ? null : Math.min(...times);
}

/** What is numbered in the order of its times: the first and the last number, and the time of the next at or after a number. */
const changes = {
  first: "SELECT min(seq) FROM _change_log",
  last: "SELECT max(seq) FROM _change_log",
  next: "SELECT r.at FROM _change_log l JOIN _reads r ON r.id = l.read WHERE l.seq >= ? ORDER BY l.seq LIMIT 1",
};
const events = {
  first: "SELECT min(seq) FROM _inbox",
  last: "SELECT max(seq) FROM _inbox",
  next: "SELECT received_at FROM _inbox WHERE seq >= ? ORDER BY seq LIMIT 1",
};

const firstWholeRun = "SELECT min(finished_at) FROM _runs WHERE outcome IN ('complete', 'partial')";

function activeIds({ table, column, date }: ScrubSource["referrers"][number]): string {
  const dated = date === null ? "" : ` OR t.${quoted(date)} >= @since`;
  return `SELECT t.${quoted(column)} FROM ${quoted(table)} t JOIN ${quoted(fenceTable(table))} f ON f.id = t.id
    WHERE f.last_change >= @change${dated}`;
}

/** Live records of a source with the time of the last read. */
function readsOf({ table, listOf }: ScrubSource): string {
  const fences = quoted(fenceTable(table));
  if (listOf === null)
    return `SELECT id, read_at AS readAt FROM ${fences} WHERE gone = 0 AND source = 'detail'`;
  return `SELECT f.id, p.listed_at AS readAt FROM _parents p JOIN ${fences} f ON f.id = p.parent_id
    WHERE p.resource = '${listOf}' AND p.parent_resource = '${table}' AND f.gone = 0`;
}
