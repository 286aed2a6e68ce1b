import type { Db } from "../../store/database.ts";
import { Runs } from "../../state/runs.ts";
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
  for (const { startedAt, report } of new Runs(db).successes(runsLookedAt)) {
    const { resources: read = {}, swept = {} } = report as Partial<CompanyReport>;
    if (!resources.every((name) => name in read)) continue;
    const startedMs = Date.parse(startedAt);
    return {
      startedMs,
      seesFromMs: Math.min(startedMs, ...Object.values(swept).map((at) => Date.parse(at))),
    };
  }
  return null;
}
