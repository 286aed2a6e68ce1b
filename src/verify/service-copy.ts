import { rmSync } from "node:fs";
import { isoTime, type Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { RecordId } from "../base/ids.ts";
import type { Log } from "../base/logger.ts";
import { resourceNamed, type Manifest } from "../connector/connector-manifest.ts";
import type { Resource } from "../connector/resource.ts";
import { PendingReads } from "../state/checks/pending-reads.ts";
import { makeScratchMirror, type Mirror } from "../state/mirror.ts";
import { Runs } from "../state/runs.ts";
import { changesOf, noteNewest, variantsOf } from "../state/sweeps.ts";
import { childPrefix, recordTarget, type NewWorkItem } from "../state/work-item.ts";
import { WorkQueue } from "../state/work-queue.ts";
import { readHeld, type HeldRecord } from "../store/apply/held-record.ts";
import { createRunContext, type RunContext } from "../sync/context/run-context.ts";
import type { Tally } from "../sync/context/tally.ts";
import { runRemovals } from "../sync/deletion/mass-delete-guard.ts";
import { runRouteProofs } from "../sync/deletion/route-probe.ts";
import { Engine } from "../sync/engine/engine.ts";
import type { EngineOptions } from "../sync/engine/engine-options.ts";
import { childList, sweepWork } from "../sync/plan/list-reads.ts";
import type { OutageWatch } from "../sync/retry/outage.ts";
import { BatchRetryPolicy } from "../sync/retry/retry-policy.ts";
import type { Shown } from "./compare/compare-record.ts";
import { isLiveRow } from "./compare/mirror-view.ts";

/** A read beyond the lists: a record, or the list of a parent. */
export interface AskedRead {
  readonly resource: string;
  readonly id: RecordId;
  /** The resource whose list below the record is read; null: the record itself. */
  readonly listOf: string | null;
}

/** What is compared, and how the service is asked. */
export interface Asking extends Pick<EngineOptions, "transport" | "concurrency" | "signal"> {
  readonly manifest: Manifest;
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  readonly log: Log;
}

/** How reads wait for a service that is away, and who counts them. */
export interface Waiting {
  readonly outages: OutageWatch;
  /** Reads something that always exists, once. */
  readonly probe: () => Promise<unknown>;
  readonly tally: Tally;
}

/**
 * What the service shows, in a mirror of its own, which the engine of runs fills: lists are read whole, failures are tried
 * again and deletions are proven as in a run. It reads what it is asked for, and nothing that follows.
 *
 * Guarantee: what was not answered is never taken for absent.
 * Source of truth: the service.
 * Worst outcome of a crash: the lists are read again.
 */
export class ServiceCopy {
  readonly mirror: Mirror;
  private readonly file: string;
  private readonly queue: WorkQueue;
  private readonly pending: PendingReads;
  private readonly run: RunContext;
  private readonly engine: EngineOptions;

  constructor(file: string, parts: Asking & Waiting) {
    const { manifest, resources, outages, probe, clock, signal } = parts;
    removeScratch(file);
    this.file = file;
    // What changes with another record is asked for only where it differs.
    this.mirror = makeScratchMirror(file, { ...manifest, invalidationRules: [], cascades: [] });
    // Without a name it ends with this process, however that ends, and another comparison makes its own.
    removeScratch(file);
    this.queue = new WorkQueue(this.mirror.db);
    this.pending = new PendingReads(this.mirror.db);
    const startedAtMs = clock.nowMs();
    this.run = createRunContext(
      { ...parts, mirror: this.mirror, queue: this.queue },
      {
        runId: this.begin(resources, startedAtMs),
        resources,
        startedAtMs,
        share: "asked",
        full: false,
        allowMassDelete: true,
        chainStartedMs: startedAtMs,
        firstSeq: null,
        parentReads: { beforeRun: 0, left: 0 },
        provenRoutes: runRouteProofs(this.queue, clock),
        signal,
        removals: runRemovals(),
      },
    );
    const closed = new AbortController().signal;
    this.engine = { ...parts, policy: new BatchRetryPolicy(outages, probe), closed };
  }

  /** One reading of a list without a total is enough: what it did not show is asked for one by one. */
  private begin(resources: readonly Resource[], nowMs: number): number {
    const lists = resources.filter(({ list }) => list.kind === "walked");
    for (const one of lists) if (changesOf(one)) noteNewest(this.mirror.meta, one.name, isoTime(0));
    const known = Object.fromEntries(lists.map(({ name }) => [name, isoTime(0)]));
    return new Runs(this.mirror.db).begin("incremental", isoTime(nowMs), null, known);
  }

  /** Resources whose detail route has answered 200. */
  get provenRoutes(): RunContext["provenRoutes"] {
    return this.run.provenRoutes;
  }

  /** Reads the lists of these resources. Throws `stopped`, and what concerns the whole service. */
  readLists(resources: readonly Resource[]): Promise<void> {
    return this.work(resources.flatMap((resource) => this.listsOf(resource)));
  }

  /** Reads these now; a record without a route of its own with its list. Throws as `readLists`. */
  read(reads: readonly AskedRead[]): Promise<void> {
    const items = reads.flatMap(({ resource: name, id, listOf }) => {
      if (listOf !== null) return childList(this.run, listOf, { resource: name, id });
      const resource = resourceNamed(this.mirror.manifest, name);
      if (resource.detail === undefined) return this.listsOf(resource);
      return { kind: "confirm" as const, resource: name, target: recordTarget(id), ...this.reason() };
    });
    return this.work(items);
  }

  private listsOf(resource: Resource): Omit<NewWorkItem, "lane">[] {
    const variants = resource.list.kind === "single" ? [""] : variantsOf(resource);
    return variants.map((variant) => sweepWork(resource.name, { variant }, this.reason().dirtySeq));
  }

  private reason(): Pick<NewWorkItem, "reason" | "dirtySeq"> {
    return { reason: "repair", dirtySeq: this.mirror.sequence.next() };
  }

  private async work(items: readonly Omit<NewWorkItem, "lane">[]): Promise<void> {
    this.mirror.apply(() => items.forEach((item) => this.queue.add({ ...item, lane: "list" })));
    const ended = await new Engine(this.run, this.engine).work();
    if (ended === "drained" || this.engine.signal.aborted)
      throw new MirrorError("stopped", "stopped before all was compared", {
        hint: "The same command goes on with the rest, within a day.",
      });
  }

  /** The ids of all that the lists of a resource show, also of what cannot become a row. */
  ids(resource: string): Set<RecordId> {
    const { records, quarantine } = this.mirror;
    const odd = quarantine.idsBefore(resource, farFuture);
    return new Set([...records.liveIds(resource), ...this.pending.records(resource), ...odd]);
  }

  /** How many records the lists of a resource show without a usable id. */
  countWithoutId(resource: string): number {
    return this.quarantined(resource, null).length;
  }

  held(resource: string, id: RecordId): HeldRecord {
    return readHeld(this.mirror.table(resource).statements, id);
  }

  /** Why the lists of a resource, or of a parent, are not there; null: they were read. */
  whyNoList(resource: string, parent: AskedRead | null = null): string | null {
    const prefix = parent === null ? "page:" : `${childPrefix(parent.resource)}${parent.id}:`;
    return this.pending.whyUnanswered(resource, prefix, `${prefix}\u{10ffff}`);
  }

  /** Was the list below the parent not read because the parent is gone? */
  hasNoParent(resource: string, { resource: parent, id }: AskedRead): boolean {
    return this.run.parents.isUnplanned(resource, parent, id);
  }

  /** Was every record of its lists shown? */
  isWhole(resource: string): boolean {
    const troubles = this.run.tally.allTroubles().filter((one) => one.resource === resource);
    return this.whyNoList(resource) === null && troubles.every(({ kind }) => kind !== "unsettled");
  }

  /** What the service says of a record that was asked for. */
  shown(resource: Resource, id: RecordId): Shown {
    const { name, detail } = resource;
    const why =
      detail === undefined ? this.whyNoList(name) : this.pending.whyUnanswered(name, recordTarget(id));
    if (why !== null) return unreadable(detail === undefined ? `its list cannot be compared: ${why}` : why);
    const [odd] = this.quarantined(name, id);
    if (odd) return unreadable(`the service's record cannot become a row: ${odd.reason}`);
    const held = this.held(name, id);
    if (isLiveRow(held) && held.json !== undefined) return { kind: "shown", slice: Buffer.from(held.json) };
    const isEmpty = detail === undefined && this.mirror.records.counts(name).live === 0;
    return isEmpty ? unreadable("its list came back empty") : { kind: "absent" };
  }

  private quarantined(name: string, id: RecordId | null) {
    return this.mirror.quarantine
      .all()
      .filter(({ resource, recordId }) => resource === name && recordId === id);
  }

  close(): void {
    this.mirror.close();
    removeScratch(this.file);
  }
}

const farFuture = "9999";

function unreadable(why: string): Shown {
  return { kind: "unreadable", why };
}

function removeScratch(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Windows removes no file that is open: it goes with the end of the comparison.
  }
}
