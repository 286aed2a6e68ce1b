import { rmSync } from "node:fs";
import { isoTime, type Clock } from "../base/clock.ts";
import { MirrorError } from "../base/errors.ts";
import type { RecordId, RecordRef } from "../base/ids.ts";
import { silentLog, type Log } from "../base/logger.ts";
import { resourceNamed, type ConnectorDeclaration } from "../connector/connector-declaration.ts";
import type { Resource } from "../connector/resource.ts";
import { Mirror, openScratch } from "../state/mirror.ts";
import { Runs } from "../state/runs.ts";
import { changesOf, noteNewest, variantsOf } from "../state/sweeps.ts";
import { childPrefix, recordTarget, type NewWorkItem } from "../state/work-item.ts";
import { WorkQueue } from "../state/work-queue.ts";
import { readHeld, type HeldRecord } from "../store/apply/held-record.ts";
import { createRunContext, type RunContext } from "../sync/context/run-context.ts";
import type { Tally } from "../sync/context/tally.ts";
import { routeProofs, runRemovals } from "../sync/deletion/deletion.ts";
import { Engine, type EngineOptions } from "../sync/engine/engine.ts";
import { childList, listPage } from "../sync/plan/list-reads.ts";
import type { RetryPolicy } from "../retry/retry-policies.ts";
import { isLiveRow, type ShownRecord } from "./compare-record.ts";

/** A read beyond the lists: a record, or the list of a parent. */
export interface AskedRead extends RecordRef {
  /** The resource whose list below the record is read; null: the record itself. */
  readonly listOf: string | null;
}

export interface Asking extends Pick<EngineOptions, "transport" | "concurrency" | "signal"> {
  readonly declaration: ConnectorDeclaration;
  readonly resources: readonly Resource[];
  readonly clock: Clock;
  readonly log: Log;
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
  private readonly run: RunContext;
  private readonly engine: EngineOptions;
  /** Why records cannot become a row, by resource and id, as of the last reads. */
  private odd: ReadonlyMap<string, string> = new Map();

  constructor(file: string, parts: Asking, tally: Tally, policy: RetryPolicy) {
    const { declaration, resources, clock, signal } = parts;
    removeScratch(file);
    this.file = file;
    // What changes with another record is asked for only where it differs.
    const asked = { ...declaration, invalidationRules: [], cascades: [] };
    this.mirror = new Mirror(openScratch(file), asked, silentLog, null);
    // Without a name it ends with this process, however that ends, and another comparison makes its own.
    removeScratch(file);
    this.queue = new WorkQueue(this.mirror.db);
    const asking = {
      runId: this.begin(resources, clock.nowMs()),
      share: "asked",
      allowMassDelete: true,
    } as const;
    const provenRoutes = routeProofs(this.queue, clock);
    this.run = createRunContext(
      { ...parts, tally, mirror: this.mirror, queue: this.queue },
      { resources, provenRoutes, signal, removals: runRemovals(), ...asking },
    );
    this.engine = { ...parts, policy };
  }

  /** One reading of a list without a total is enough: what it did not show is asked for one by one. */
  private begin(resources: readonly Resource[], nowMs: number): number {
    const lists = resources.filter(({ list }) => list.kind === "walked");
    for (const one of lists) if (changesOf(one)) noteNewest(this.mirror.meta, one.name, isoTime(0));
    const known = Object.fromEntries(lists.map(({ name }) => [name, isoTime(0)]));
    return new Runs(this.mirror.db).begin("incremental", isoTime(nowMs), null, known);
  }

  get provenRoutes(): RunContext["provenRoutes"] {
    return this.run.provenRoutes;
  }

  /** @param params more of them, for pages. @default lists are read as in a run */
  readLists(resources: readonly Resource[], params?: Readonly<Record<string, string>>): Promise<void> {
    return this.work(resources.flatMap((resource) => this.listsOf(resource, params)));
  }

  /** Reads these now; a record without a route of its own with its list. Throws as `readLists`. */
  read(reads: readonly AskedRead[]): Promise<void> {
    const items = reads.flatMap(({ resource: name, id, listOf }) => {
      if (listOf !== null) return childList(this.run, listOf, { resource: name, id });
      const resource = resourceNamed(this.mirror.declaration, name);
      if (resource.detail === undefined) return this.listsOf(resource);
      return { kind: "confirm" as const, resource: name, target: recordTarget(id), ...this.reason() };
    });
    return this.work(items);
  }

  private listsOf(resource: Resource, params?: Readonly<Record<string, string>>) {
    const { list } = resource;
    const variants = list.kind === "single" ? [""] : variantsOf(resource);
    const order = list.kind === "paged" ? list.params : {};
    // As a quick run asks: the same list with other parameters. Here its answers are read to the end.
    const quick = params && { quick: { kind: "all" as const, params: { ...order, ...params } } };
    return variants.map((variant) => listPage(resource.name, { variant, ...quick }, this.reason().dirtySeq));
  }

  private reason(): Pick<NewWorkItem, "reason" | "dirtySeq"> {
    return { reason: "repair", dirtySeq: this.mirror.sequence.next() };
  }

  private async work(items: readonly Omit<NewWorkItem, "lane">[]): Promise<void> {
    this.mirror.apply(() => items.forEach((item) => this.queue.add({ ...item, lane: "list" })));
    const ended = await new Engine(this.run, this.engine).work();
    const kept = this.mirror.quarantine.all();
    this.odd = new Map(kept.map(({ resource, recordId, reason }) => [`${resource} ${recordId}`, reason]));
    if (ended === "drained" || this.engine.signal.aborted)
      throw new MirrorError("stopped", "stopped before all was compared", {
        hint: "The same command goes on with the rest, within a day.",
      });
  }

  /** The ids of all that the lists of a resource show, also of what cannot become a row. */
  ids(resource: string): Set<RecordId> {
    const { records, quarantine } = this.mirror;
    const odd = quarantine.idsBefore(resource);
    return new Set([...records.liveIds(resource), ...this.queue.queuedRecords(resource), ...odd]);
  }

  countWithoutId(resource: string): number {
    const kept = this.mirror.quarantine.all();
    return kept.filter((one) => one.resource === resource && one.recordId === null).length;
  }

  held(resource: string, id: RecordId): HeldRecord {
    return readHeld(this.mirror.table(resource).statements, id);
  }

  /** Why the lists of a resource, or of a parent, are not there; null: they were read. */
  whyNoList(resource: string, parent: AskedRead | null = null): string | null {
    const prefix = parent === null ? "page:" : `${childPrefix(parent.resource)}${parent.id}:`;
    return this.queue.whyUnanswered(resource, prefix, `${prefix}\u{10ffff}`);
  }

  /** Was the list below the parent not read because the parent is gone? */
  hasNoParent(resource: string, { resource: parent, id }: AskedRead): boolean {
    return this.run.parents.isUnplanned(resource, parent, id);
  }

  isWhole(resource: string): boolean {
    const troubles = this.run.tally.allTroubles().filter((one) => one.resource === resource);
    return this.whyNoList(resource) === null && troubles.every(({ kind }) => kind !== "unsettled");
  }

  shown(resource: Resource, id: RecordId): ShownRecord {
    const { name, detail } = resource;
    const why =
      detail === undefined ? this.whyNoList(name) : this.queue.whyUnanswered(name, recordTarget(id));
    if (why !== null) return unreadable(detail === undefined ? `its list cannot be compared: ${why}` : why);
    const odd = this.odd.get(`${name} ${id}`);
    if (odd !== undefined) return unreadable(`the service's record cannot become a row: ${odd}`);
    const held = this.held(name, id);
    if (isLiveRow(held) && held.json !== undefined) return { kind: "shown", slice: Buffer.from(held.json) };
    const isEmpty = detail === undefined && this.mirror.records.counts(name).live === 0;
    return isEmpty ? unreadable("its list came back empty") : { kind: "absent" };
  }

  close(): void {
    this.mirror.close();
    removeScratch(this.file);
  }
}

function unreadable(why: string): ShownRecord {
  return { kind: "unreadable", why };
}

function removeScratch(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Windows removes no file that is open: it goes with the end of the comparison.
  }
}
