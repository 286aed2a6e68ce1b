import { resourceNamed, type Manifest } from "../connector/connector-manifest.ts";
import { Parents } from "../state/parents.ts";
import { Quarantine, type Quarantined } from "../state/quarantine.ts";
import { unknownColumns } from "../store/tables/unknown-columns.ts";
import { Records } from "../store/tables/records.ts";
import { Runs, type RunRow } from "../state/runs.ts";
import type { Db } from "../store/database.ts";
import { sweptAt } from "../state/sweeps.ts";
import { WorkQueue, type QueueCount } from "../state/work-queue.ts";
import type { CompanyReport } from "../sync/context/run-report.ts";
import type { Trouble } from "../sync/context/tally.ts";

/** How one resource stands in the mirror. */
export interface ResourceHealth {
  readonly name: string;
  readonly live: number;
  readonly deleted: number;
  /** When its list was last read whole, ISO; null: never. */
  readonly sweptAt: string | null;
  /** What the last run that read it could not do. */
  readonly troubles: readonly Trouble[];
  /** Where parents are spread over runs: the parent whose list was read longest ago. */
  readonly stalestParent?: { readonly parent: string; readonly id: string; readonly listedAt: string | null };
}

/** What a mirror's file says of its tables and runs. */
export interface Health {
  readonly resources: readonly ResourceHealth[];
  readonly runs: readonly RunRow[];
  readonly queue: readonly QueueCount[];
  readonly quarantine: readonly Quarantined[];
  readonly deadLetters: readonly { resource: string; target: string; error: string; state: string }[];
  readonly newColumns: readonly string[];
  /** Required fields that the last finished run did not receive, and fields it could not keep. */
  readonly missingFields: readonly string[];
  readonly unkeptFields: readonly string[];
}

/** How many runs are searched for the last one that read a resource. */
const runsLookedAt = 200;

/**
 * Reads the health of a mirror from one snapshot, beside a running sync.
 *
 * @param spread are parents' lists spread over several runs?
 */
export function readHealth(db: Db, manifest: Manifest, spread: boolean): Health {
  return db.transaction(() => {
    const runs = new Runs(db).latest(runsLookedAt);
    const queue = new WorkQueue(db);
    const last = runs.find((run) => run.finishedAt !== null)?.report as Partial<CompanyReport> | undefined;
    return {
      resources: manifest.resources.map((resource) =>
        resourceHealth(db, manifest, resource.name, runs, spread),
      ),
      runs: runs.slice(0, 10),
      queue: queue.counts(),
      quarantine: new Quarantine(db).all(),
      deadLetters: queue.deadLetters(),
      newColumns: unknownColumns(db),
      missingFields: last?.missing_fields ?? [],
      unkeptFields: last?.unkept_fields ?? [],
    };
  })();
}

function resourceHealth(
  db: Db,
  manifest: Manifest,
  name: string,
  runs: readonly RunRow[],
  spread: boolean,
): ResourceHealth {
  const records = new Records(db);
  const reports = runs.map((run) => run.report as Partial<CompanyReport>);
  const last = reports.find((report) => report.resources && name in report.resources);
  const stalest = spread ? stalestParent(db, manifest, name) : undefined;
  return {
    name,
    ...records.counts(name),
    sweptAt: sweptAt(manifest, resourceNamed(manifest, name), new Runs(db)),
    troubles: last?.troubles?.filter((trouble) => trouble.resource === name) ?? [],
    ...(stalest ? { stalestParent: stalest } : {}),
  };
}

/** The last run that ended, in epoch milliseconds; null: none did. */
export function lastEndedRun(db: Db): { outcome: string; startedMs: number; finishedMs: number } | null {
  const run = new Runs(db).lastEnded();
  if (!run) return null;
  const { outcome, startedAt, finishedAt } = run;
  return { outcome, startedMs: Date.parse(startedAt), finishedMs: Date.parse(finishedAt) };
}

/** When each of these resources was last read whole, epoch milliseconds; null: never. */
export function sweptTimes(
  db: Db,
  manifest: Manifest,
  names: readonly string[],
): Readonly<Record<string, number | null>> {
  const runs = new Runs(db);
  const times = names.map((name) => [name, sweptAt(manifest, resourceNamed(manifest, name), runs)] as const);
  return Object.fromEntries(times.map(([name, at]) => [name, at === null ? null : Date.parse(at)]));
}

function stalestParent(db: Db, manifest: Manifest, name: string): ResourceHealth["stalestParent"] {
  const list = manifest.resources.find((resource) => resource.name === name)?.list;
  if (list?.kind !== "parents") return undefined;
  const parents = new Parents(db);
  const stalest = list.parents.flatMap(({ resource }) =>
    parents.stalest(name, resource, 1).map((one) => ({ parent: resource, ...one })),
  );
  const [first] = stalest.toSorted((a, b) => (a.listedAtMs ?? 0) - (b.listedAtMs ?? 0));
  if (!first) return undefined;
  const listedAt = first.listedAtMs === null ? null : new Date(first.listedAtMs).toISOString();
  return { parent: first.parent, id: String(first.id), listedAt };
}
