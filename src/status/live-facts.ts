import { Runs } from "../state/runs.ts";
import type { Db } from "../store/database.ts";
import type { CompanyReport } from "../sync/context/run-report.ts";

/** A run that read everything the config asks for, whoever made it. Epoch milliseconds. */
export interface WholeRun {
  readonly startedMs: number;
  /** When the first of its lists was begun: the run saw everything that happened before. */
  readonly seesFromMs: number;
}

/** How many successful runs are searched. */
const runsSearched = 200;

/** The last run that read all these resources; null: none of the last 200 successful runs did. */
export function lastWholeRun(db: Db, resources: readonly string[]): WholeRun | null {
  for (const { startedAt, report } of new Runs(db).successes(runsSearched)) {
    const { resources: read = {}, swept = {} } = report as Partial<CompanyReport>;
    if (!resources.every((name) => name in read)) continue;
    const startedMs = Date.parse(startedAt);
    const sweptMs = Object.values(swept).map((at) => Date.parse(at));
    return { startedMs, seesFromMs: Math.min(startedMs, ...sweptMs) };
  }
  return null;
}
