import { isoOrNull } from "../base/clock.ts";
import { resourceNamed, type ConnectorDeclaration } from "../connector/connector-declaration.ts";
import type { Resource } from "../connector/resource.ts";
import { Meta, shardKey } from "../state/meta.ts";
import { ScrubCandidates } from "../state/scrub-candidates.ts";
import { Quarantine } from "../store/apply/quarantine.ts";
import { schemaChanges } from "../store/tables/unknown-columns.ts";
import { Records } from "../store/tables/stored-records.ts";
import { readSizes } from "../state/retention/sizes.ts";
import { Runs } from "../state/runs.ts";
import type { Db } from "../store/database.ts";
import { onceFor } from "../base/once-for.ts";
import { expectedRecords, sweptAt } from "../state/sweeps.ts";
import { LeaseOrder } from "../state/lease-order.ts";
import { WorkQueue } from "../state/work-queue.ts";
import type { RunSummary } from "../sync/context/run-summary.ts";
import { lastFailedStart } from "../sync/run/begin-run.ts";
import { scrubSources } from "../sync/plan/scrub.ts";
import { readTroubles } from "./event-status.ts";

export type Health = ReturnType<typeof readHealth>;

export type ResourceHealth = Health["resources"][number];

type CountsOf = (resource: Resource) => ReturnType<Records["counts"]>;

/** Reads the health of a mirror from one snapshot, beside a running sync. */
export function readHealth(db: Db, declaration: ConnectorDeclaration, mirrored = declaration.resources) {
  const names = mirrored.map(({ name }) => name);
  return db.transaction(() => {
    const runs = new Runs(db);
    const [finished] = runs.whole("finished_at IS NOT NULL");
    const last = finished?.report as Partial<RunSummary> | undefined;
    const troubles = readTroubles(runs, names);
    const queue = new WorkQueue(db);
    const meta = new Meta(db);
    const sizes = readSizes(db);
    const times = runs.sweptTimes();
    const changes = schemaChanges(db, declaration.resources);
    const countsOf = onceFor(({ name }: Resource) => new Records(db).counts(name));
    return {
      resources: declaration.resources.map((one) => ({
        ...readResource(db, declaration, one, countsOf),
        /** When its list was last read whole, ISO; null: never. */
        sweptAt: sweptAt(one, times, mirrored),
        /** The config does not read it: what is there stays as it was. */
        left_out: !names.includes(one.name),
        troubles: troubles.filter(({ resource }) => resource === one.name),
      })),
      runs: runs.latest(10),
      /** Of which shard of the companies the last of them was one, as `2/3`; null: of all. */
      shard: meta.get(shardKey) as string | null,
      /** The run after the last of them, where it failed before it began to write. */
      failed_start: lastFailedStart(meta),
      queue: queue.counts(names),
      /** The same items by lane, in the order in which lanes are served. */
      lanes: new LeaseOrder(db).counts(names),
      quarantine: new Quarantine(db).all(),
      /** Reads that the last run set aside; the next run asks again. */
      setAside: queue.deadLetters(),
      newColumns: changes.flatMap(({ field, type }) => (type === null ? [field] : [])),
      schemaChanges: changes,
      /** Required fields that the last finished run did not receive, and fields it could not keep. */
      missingFields: last?.missing_fields ?? [],
      unkeptFields: last?.unkept_fields ?? [],
      /** Columns that lists and details show differently: they are not compared. */
      uncomparedFields: last?.uncompared_fields ?? [],
      wal_bytes: sizes.wal_bytes,
      sizes,
    };
  })();
}

function readResource(db: Db, declaration: ConnectorDeclaration, resource: Resource, countsOf: CountsOf) {
  return {
    name: resource.name,
    /** `provisional`: live rows of which only the preview is known. */
    ...countsOf(resource),
    /** How many records its lists named when they were last read; null: not known. */
    expected: expectedRecords(new Meta(db), resource),
    ...readsBefore(db, declaration, resource, countsOf),
  };
}

function readsBefore(db: Db, declaration: ConnectorDeclaration, resource: Resource, countsOf: CountsOf) {
  const candidates = new ScrubCandidates(db);
  const { resources: declared } = declaration;
  const sources = scrubSources({ declared, resources: [resource], parentsPerRun: "auto" });
  const parents = sources.filter(({ listOf }) => listOf !== null);
  const listed = candidates.readBefore(parents);
  const live = parents.reduce((sum, { table }) => sum + countsOf(resourceNamed(declaration, table)).live, 0);
  return {
    /** When the detail, and the parent's list, read longest ago was read, ISO; null: there is none. */
    oldest_detail_at: isoOrNull(candidates.oldestMs(sources.filter(({ listOf }) => listOf === null))),
    oldest_parent_at: isoOrNull(listed.oldestMs),
    parents_never_read: live - listed.count,
  };
}
