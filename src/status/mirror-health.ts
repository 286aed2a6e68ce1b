import { isoTime } from "../base/clock.ts";
import type { Manifest } from "../connector/connector-manifest.ts";
import type { Resource } from "../connector/resource.ts";
import { Meta, readShard } from "../state/meta.ts";
import { ScrubCandidates } from "../state/scrub-candidates.ts";
import { Parents } from "../state/parents.ts";
import { Quarantine, type Quarantined } from "../store/apply/quarantine.ts";
import { schemaChanges, type SchemaChange } from "../store/tables/unknown-columns.ts";
import { Records } from "../store/tables/stored-records.ts";
import { Sizes, type MirrorSizes } from "../state/retention/sizes.ts";
import { Runs, type RunRow } from "../state/runs.ts";
import type { Db } from "../store/database.ts";
import { expectedRecords, sweptAt } from "../state/sweeps.ts";
import { LeaseOrder, type LaneCount } from "../state/lease-order.ts";
import { WorkQueue, type DeadLetter, type QueueCount } from "../state/work-queue.ts";
import type { CompanyReport } from "../sync/context/run-report.ts";
import { lastFailedStart, type FailedStart } from "../sync/run/run-outcome.ts";
import { scrubSources } from "../sync/plan/scrub-facts.ts";
import type { Trouble } from "../sync/context/tally.ts";

/** How one resource stands in the mirror. */
export interface ResourceHealth {
  readonly name: string;
  readonly live: number;
  readonly deleted: number;
  /** Live rows of which only the preview is known. */
  readonly provisional: number;
  /** How many records its lists named when they were last read; null: not known. */
  readonly expected: number | null;
  /** When its list was last read whole, ISO; null: never. */
  readonly sweptAt: string | null;
  /** What the last run that read it could not do. */
  readonly troubles: readonly Trouble[];
  /** When the detail read longest ago was read, ISO; null: there is none. */
  readonly oldest_detail_at: string | null;
  /** When the parent's list read longest ago was read, ISO; null: there is none. */
  readonly oldest_parent_at: string | null;
  /** Live parents whose list was never read. */
  readonly parents_never_read: number;
}

/** What a mirror's file says of its tables and runs. */
export interface Health {
  readonly resources: readonly ResourceHealth[];
  readonly runs: readonly RunRow[];
  /** Of which shard of the companies the last of them was one, as `2/3`; null: of all. */
  readonly shard: string | null;
  /** The run after the last of them, where it failed before it began to write. */
  readonly failed_start: FailedStart | null;
  readonly queue: readonly QueueCount[];
  /** The same items by lane, in the order in which lanes are served. */
  readonly lanes: readonly LaneCount[];
  readonly quarantine: readonly Quarantined[];
  /** Reads that the last run set aside; the next run asks again. */
  readonly setAside: readonly DeadLetter[];
  readonly newColumns: readonly string[];
  readonly schemaChanges: readonly SchemaChange[];
  /** Required fields that the last finished run did not receive, and fields it could not keep. */
  readonly missingFields: readonly string[];
  readonly unkeptFields: readonly string[];
  /** Columns that lists and details show differently: they are not compared. */
  readonly uncomparedFields: readonly string[];
  /** Size of the write-ahead log, bytes. */
  readonly wal_bytes: number;
  readonly sizes: MirrorSizes;
}

/** How many runs are searched for the last one that read a resource. */
const runsLookedAt = 200;

/** Reads the health of a mirror from one snapshot, beside a running sync. */
export function readHealth(db: Db, manifest: Manifest): Health {
  return db.transaction(() => {
    const runs = new Runs(db);
    const rows = runs.latest(runsLookedAt);
    const reports = rows.map(({ report }) => report as Partial<CompanyReport>);
    const last = reports[rows.findIndex(({ finishedAt }) => finishedAt !== null)];
    const records = new Records(db);
    const queue = new WorkQueue(db);
    const meta = new Meta(db);
    const sizes = new Sizes(db).read();
    const changes = schemaChanges(db, manifest.resources);
    return {
      resources: manifest.resources.map((resource) => ({
        name: resource.name,
        ...records.counts(resource.name),
        expected: expectedRecords(meta, resource),
        sweptAt: sweptAt(manifest, resource, runs),
        troubles: latestTroubles(reports, resource.name),
        ...oldestReads(db, manifest.resources, resource),
        parents_never_read: countNeverListed(db, resource),
      })),
      runs: rows.slice(0, 10),
      shard: readShard(meta),
      failed_start: lastFailedStart(meta, rows[0]?.startedAt ?? null),
      queue: queue.counts(),
      lanes: new LeaseOrder(db).counts(),
      quarantine: new Quarantine(db).all(),
      setAside: queue.deadLetters(),
      newColumns: changes.flatMap(({ field, type }) => (type === null ? [field] : [])),
      schemaChanges: changes,
      missingFields: last?.missing_fields ?? [],
      unkeptFields: last?.unkept_fields ?? [],
      uncomparedFields: last?.uncompared_fields ?? [],
      wal_bytes: sizes.wal_bytes,
      sizes,
    };
  })();
}

function latestTroubles(reports: readonly Partial<CompanyReport>[], name: string): readonly Trouble[] {
  const last = reports.find(({ resources }) => resources && name in resources);
  return last?.troubles?.filter(({ resource }) => resource === name) ?? [];
}

function oldestReads(db: Db, manifest: readonly Resource[], resource: Resource) {
  const candidates = new ScrubCandidates(db);
  const sources = scrubSources({ manifest, resources: [resource], parentsPerRun: "auto" });
  const oldest = (isOfParents: boolean) => {
    const some = sources.filter(({ listOf }) => (listOf !== null) === isOfParents);
    const times = some.flatMap((source) => candidates.readBefore(source).oldestMs ?? []);
    return times.length === 0 ? null : isoTime(Math.min(...times));
  };
  return { oldest_detail_at: oldest(false), oldest_parent_at: oldest(true) };
}

function countNeverListed(db: Db, { name, list }: Resource): number {
  if (list.kind !== "parents") return 0;
  const parents = list.parents.map(({ resource }) => resource);
  return new Parents(db).countNeverListed(name, parents);
}
