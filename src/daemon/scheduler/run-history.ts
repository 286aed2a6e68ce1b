import type { Db } from "../../store/database.ts";
import type { RunRow } from "../../state/runs.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";

/** A run that read everything the config asks for, whoever made it. Epoch milliseconds. */
export interface WholeRun {
  readonly startedMs: number;
  /** What happened before this moment it has seen: when the first of its lists was begun. */
  readonly seesFromMs: number;
}

/** So many runs are looked through. */
const runsLookedAt = 200;

/** The last one; null: there was none. */
export function lastWholeRun(db: Db, resources: readonly string[]): WholeRun | null {
  const sql = `SELECT started_at AS startedAt, report FROM _runs WHERE outcome IN ('complete', 'partial')
    ORDER BY id DESC LIMIT ?`;
  const rows = db.prepare(sql).iterate(runsLookedAt) as Iterable<
    Pick<RunRow, "startedAt"> & { report: string }
  >;
  for (const { startedAt, report } of rows) {
    const { resources: read = {}, swept = {} } = JSON.parse(report) as Partial<CompanyReport>;
    if (!resources.every((name) => name in read)) continue;
    const startedMs = Date.parse(startedAt);
    return {
      startedMs,
      seesFromMs: Math.min(startedMs, ...Object.values(swept).map((at) => Date.parse(at))),
    };
  }
  return null;
}
