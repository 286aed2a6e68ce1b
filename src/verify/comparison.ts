import { yieldToLoop } from "../base/cancellation.ts";
import type { Clock } from "../base/clock.ts";
import { throwIfAborted } from "../base/errors.ts";
import { canonicalId, type RecordId, type RecordRef } from "../base/ids.ts";
import { snakeCase } from "../base/names.ts";
import { resourceNamed } from "../connector/connector-declaration.ts";
import { sourcesOf, type Resource } from "../connector/resource.ts";
import type { Transport } from "../connector/transport.ts";
import { integerOf } from "../json/literal.ts";
import { WorkQueue } from "../state/work-queue.ts";
import type { HeldRecord } from "../store/apply/held-record.ts";
import { isProvisional, type Fence } from "../store/apply/merge-rules.ts";
import type { Db } from "../store/database.ts";
import { quoted } from "../store/sql-text.ts";
import type { Records } from "../store/tables/stored-records.ts";
import { dataColumns } from "../store/tables/table-layout.ts";
import { ownerColumns } from "../sync/deletion/deletion.ts";
import { countRecords } from "../sync/plan/estimate.ts";
import {
  compareRecord,
  differsFromListed,
  isLiveRow,
  isSound,
  versionOf,
  type MirrorView,
  type RecordVerdict,
} from "./compare-record.ts";
import type { AskedRead, ServiceCopy } from "./service-copy.ts";

/** From and to, ISO days, both included. */
type Days = Readonly<{ from: string; to: string }>;

export interface DeepRead extends AskedRead {
  /** When the mirror read it last, epoch ms; 0: never. */
  readonly readAtMs: number;
}

interface Uncompared {
  readonly resource: string;
  /** null: it concerns more than one record. */
  readonly id: RecordId | null;
  readonly message: string;
}

const noneCompared = {
  /** Records that its lists show; null: it has no list of its own. */
  service: null as number | null,
  mirror: 0,
  /** Live rows of which only the preview is known. */
  provisional: 0,
  details: 0,
  isDone: false,
};

type ComparedCounts = typeof noneCompared;

/** SQL of the live records of some days, or of all other days. */
const ofDays = ({ name, files }: Resource, not: "" | "NOT" = "") =>
  `SELECT id FROM ${quoted(name)} WHERE _deleted_at IS NULL AND ${quoted(files?.date ?? "")} ${not} BETWEEN @from AND @to`;

const idsOf = (db: Db, sql: string, days: Days) =>
  (db.prepare(sql).pluck().safeIntegers().all(days) as bigint[]).map(canonicalId);

/** Where a list cannot be read whole, no more records than this are asked for because it does not show them. */
const mostAbsent = 200;

/** Compares a mirror with what the service shows: what seems to differ is a suspect. */
export class Comparison {
  readonly view: MirrorView;
  readonly copy: ServiceCopy;
  readonly resources: readonly Resource[];
  readonly counts: ReadonlyMap<string, ComparedCounts>;
  /** By resource: records that seem to differ. They are asked for again before anything is said. */
  readonly suspects = new Map<string, Set<RecordId>>();
  /** Details and lists of parents that may be compared. */
  readonly deepReads: DeepRead[] = [];
  equalReads = 0;
  readonly uncompared: Uncompared[] = [];

  constructor(view: MirrorView, copy: ServiceCopy, resources: readonly Resource[]) {
    this.view = view;
    this.copy = copy;
    this.resources = resources;
    this.counts = new Map(resources.map(({ name }) => [name, { ...noneCompared }]));
  }

  countsOf(resource: string): ComparedCounts {
    const found = this.counts.get(resource);
    if (!found) throw new Error(`broken promise: ${resource} is compared`);
    return found;
  }

  /** Notes that a record seems to differ; not one of a resource that is not compared. */
  suspect(resource: string, id: RecordId): void {
    if (!this.counts.has(resource)) return;
    const ids = this.suspects.get(resource) ?? new Set();
    this.suspects.set(resource, ids.add(id));
  }

  get suspected(): RecordRef[] {
    return [...this.suspects].flatMap(([resource, ids]) => [...ids].map((id) => ({ resource, id })));
  }

  findingOf({ resource, id }: RecordRef, verdict: RecordVerdict): Finding[] {
    if (verdict.kind === "unreadable") this.uncompared.push({ resource, id, message: verdict.why });
    return verdict.kind === "unreadable" || verdict.kind === "equal" ? [] : [{ resource, id, verdict }];
  }

  verdictOf(resource: string, id: RecordId, held = this.view.held(resource, id)): RecordVerdict {
    const one = resourceNamed(this.view.declaration, resource);
    return compareRecord(this.view, one, held, this.copy.shown(one, id));
  }

  /** Compares one resource with its lists, and each of its records in the mirror with itself. */
  async compareLists(resource: Resource, signal: AbortSignal): Promise<void> {
    const { view } = this;
    const { name } = resource;
    const counts = this.countsOf(name);
    const shown = this.shownByLists(resource);
    const absent: RecordId[] = [];
    for (const ids of view.ids(name)) {
      for (const id of ids) {
        const held = view.held(name, id);
        const isLive = isLiveRow(held);
        const isShown = shown?.delete(id) ?? isLive;
        counts.mirror += Number(isLive);
        counts.provisional += Number(isLive && isProvisional(held.fence));
        if (!isSound(view, resource, held)) this.suspect(name, id);
        else if (isLive && !isShown) absent.push(id);
        else {
          const differs = () => differsFromListed(view, resource, held, this.copy.held(name, id).json);
          if (isShown && (shown ? differs() : !isLive)) this.suspect(name, id);
          if (isLive) this.addDetail(resource, id, held);
        }
      }
      await yieldToLoop(signal, "stopped before all was compared");
    }
    for (const id of shown ?? []) this.suspect(name, id);
    this.suspectAbsent(name, absent);
    this.addParents(resource);
    counts.isDone = true;
  }

  /** What its lists showed; null: it has no list of its own, or that was refused. */
  private shownByLists({ name, list }: Resource): Set<RecordId> | null {
    if (list.kind === "owned" || list.kind === "parents") return null;
    const why = this.copy.whyNoList(name);
    if (why !== null) {
      this.uncompared.push({ resource: name, id: null, message: `its list cannot be compared: ${why}` });
      return null;
    }
    const shown = this.copy.ids(name);
    const withoutId = this.copy.countWithoutId(name);
    this.countsOf(name).service = shown.size + withoutId;
    if (withoutId > 0)
      this.uncompared.push({ resource: name, id: null, message: `${withoutId} records have no usable id` });
    return shown;
  }

  private suspectAbsent(resource: string, absent: readonly RecordId[]): void {
    const isBounded = absent.length > mostAbsent && !this.copy.isWhole(resource);
    for (const id of isBounded ? absent.slice(0, mostAbsent) : absent) this.suspect(resource, id);
    if (!isBounded) return;
    const message = `its list does not show ${absent.length} records, and was never whole: ${mostAbsent} were asked for`;
    this.uncompared.push({ resource, id: null, message });
  }

  /** The detail of a live record, where its list does not show all of it. */
  private addDetail(resource: Resource, id: RecordId, held: HeldRecord): void {
    const { name, list, detail } = resource;
    const isWhole = this.copy.held(name, id).fence?.source === "list" && list.kind !== "owned";
    if (detail === undefined || isWhole || list.kind === "parents" || isProvisional(held.fence)) return;
    const owner = this.ownerOf(resource, held);
    if (owner === "gone") this.suspect(name, id);
    else if (owner !== "live")
      this.deepReads.push({ resource: name, id, listOf: null, readAtMs: held.fence?.read_at ?? 0 });
  }

  /** Does an owned record come with another one? `none`: no detail holds it. */
  private ownerOf({ name, list }: Resource, { cells }: HeldRecord) {
    if (list.kind !== "owned") return "none";
    const columns = dataColumns(this.view.table(name).plan);
    const cellOf = (field: string) =>
      cells?.[columns.findIndex((one) => one.name === snakeCase(field))] ?? null;
    const link = list.by.find(({ type, typeField }) => cellOf(typeField) === type);
    if (!link) return "none";
    const id = integerOf(Number(cellOf(link.idField)));
    return id !== null && this.view.records.isLive(link.resource, id) ? "live" : "gone";
  }

  /** In place of lists: the documents of a month by their date, and others that refer to them. */
  addMonth({ from, to }: Days): void {
    const { db, declaration } = this.view;
    const names = declaration.monthPackage?.documents ?? [];
    const inMonth = (name: string) => ofDays(resourceNamed(declaration, name));
    for (const resource of names) {
      if (!this.counts.has(resource)) {
        this.uncompared.push({ resource, id: null, message: "the config leaves it out" });
        continue;
      }
      const { columns } = this.view.table(resource).plan;
      const touching = columns.filter(({ references }) => references !== null && names.includes(references));
      const arms = touching.map(
        ({ name, references }) =>
          `SELECT id FROM ${quoted(resource)} WHERE _deleted_at IS NULL AND ${quoted(name)} IN (${inMonth(references ?? "")})`,
      );
      const sql = [inMonth(resource), ...arms].join(" UNION ");
      for (const id of idsOf(db, sql, { from, to }))
        this.deepReads.push({ resource, id, listOf: null, readAtMs: 0 });
    }
  }

  /**
   * Adds the documents of a month that the service lists and the mirror does not have there; call when those that it has
   * are read. Where as many are listed as were read, there are no others, and the list is not read. A service that lists
   * other days, too, is no reason to name a document of another month.
   */
  async addListedInMonth(days: Days, transport: Transport): Promise<void> {
    const { db, declaration } = this.copy.mirror;
    const { documents = [], days: limits } = declaration.monthPackage ?? {};
    const params = limits && { [limits.from]: days.from, [limits.to]: days.to };
    const unsure: Resource[] = [];
    for (const resource of this.resources.filter(({ name }) => documents.includes(name))) {
      // One that cannot be counted is read, which says why.
      const listed = params && (await countRecords(transport, resource, params).catch(() => null));
      if (listed?.records !== idsOf(db, ofDays(resource), days).length) unsure.push(resource);
    }
    await this.copy.readLists(unsure, params);
    for (const resource of unsure) {
      const { name } = resource;
      const known = new Set(this.deepReads.filter((read) => read.resource === name).map(({ id }) => id));
      for (const id of idsOf(db, ofDays(resource, "NOT"), days)) known.add(id);
      for (const id of this.shownByLists(resource) ?? [])
        if (!known.has(id)) this.deepReads.push({ resource: name, id, listOf: null, readAtMs: 0 });
    }
  }

  /** The lists of all parents, and records that no parent's list can show. */
  private addParents(resource: Resource): void {
    const { name, list } = resource;
    if (list.kind !== "parents") return;
    const { records, parents } = this.view;
    for (const { listedAtMs, ...parent } of parents.stalest(
      name,
      sourcesOf(resource),
      Number.MAX_SAFE_INTEGER,
    ))
      this.deepReads.push({ ...parent, listOf: name, readAtMs: listedAtMs ?? 0 });
    for (const { field } of list.parents)
      for (const id of records.orphans(resource, field, mostAbsent)) this.suspect(name, id);
  }

  /** Compares a detail, or the list of a parent, that the copy has read. True: it is equal. */
  compareRead(read: DeepRead): boolean {
    const { resource, id, listOf } = read;
    this.countsOf(listOf ?? resource).details += 1;
    const why = listOf === null ? null : this.copy.whyNoList(listOf, read);
    if (listOf !== null && why !== null) {
      this.uncompared.push({ resource: listOf, id: null, message: `the list of ${resource} ${id}: ${why}` });
      return false;
    }
    const sides = [this.view.records, this.copy.mirror.records];
    const isGone = listOf !== null && this.copy.hasNoParent(listOf, read);
    const found = isGone
      ? [read]
      : this.recordsOf(read, sides).filter((one) => this.verdictOf(one.resource, one.id).kind !== "equal");
    for (const one of found) this.suspect(one.resource, one.id);
    this.equalReads += Number(found.length === 0);
    return found.length === 0;
  }

  /** The records that a read shows: of a parent's list, or a record with those that it owns. */
  private recordsOf({ resource, id, listOf }: AskedRead, sides: readonly Records[]): RecordRef[] {
    const owner = resourceNamed(this.view.declaration, resource);
    const lists =
      listOf === null ? this.view.table(resource).plan.owned.map((one) => one.resource) : [listOf];
    const compared = lists.filter((name) => this.counts.has(name));
    const records = compared.flatMap((name) => {
      const listed = resourceNamed(this.view.declaration, name);
      const { list } = listed;
      const link = list.kind === "parents" && list.parents.find((one) => one.resource === resource);
      const columns = link ? { [snakeCase(link.field)]: id } : ownerColumns(listed, owner, id);
      const ids = columns ? sides.flatMap((side) => side.liveIdsWhere(name, columns)) : [];
      return [...new Set(ids)].map((one) => ({ resource: name, id: one }));
    });
    return listOf === null ? [{ resource, id }, ...records] : records;
  }

  /** Another text after each change of what the mirror holds of a read's records. */
  lastChangesOf(read: AskedRead): string {
    const fences = this.recordsOf(read, [this.view.records]).map(
      (one) => this.view.table(one.resource).statements.of("selectFence").get(one.id) as Fence | undefined,
    );
    return JSON.stringify(fences.map((fence) => fence?.last_change ?? null));
  }
}

/** A record that differs, also when it was asked for again. */
export interface Finding extends RecordRef {
  readonly verdict: Exclude<RecordVerdict, { kind: "equal" | "unreadable" }>;
}

/** Beside a writer: a record differs when its rows did not change for so long, and nothing waits to be read of it. */
const quietMs = 10_000;
/** Beside a writer: a record that still changes after this time is not compared. */
const longestWaitMs = 120_000;
/** Asked for between two looks at the mirror's rows: a longer time would see more of them change. */
const askedAtOnce = 20;

/** A suspect, and since when its rows are as they are. */
interface Suspect extends AskedRead {
  state: string | null;
  sinceMs: number;
  /** Number of the newest reason to read that was queued then. */
  reason: number;
}

interface Circumstances {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Does another process hold the mirror's writer lock? */
  readonly isWritten: () => boolean;
}

/**
 * Asks for every suspect again, on its own route, and names those that still differ.
 *
 * Guarantee: a record is named only when an answer that was sent after the mirror's rows were read differs from them,
 * and the rows are still the same afterwards. Beside a writer the mirror gets time to come up to date.
 * Source of truth: the service; nothing is written.
 * Worst outcome of a crash: nothing was said.
 */
export async function nameDifferences(comparison: Comparison, around: Circumstances): Promise<Finding[]> {
  const { clock, signal } = around;
  const { uncompared, view } = comparison;
  const findings: Finding[] = [];
  const sinceMs = clock.monotonicMs();
  const unknown = { listOf: null, state: null, reason: 0, sinceMs };
  let open = comparison.suspected.map((one): Suspect => ({ ...one, ...unknown }));
  while (open.length > 0) {
    view.reopen();
    const moving: Suspect[] = [];
    for (const some of askedTogether(comparison, open)) {
      const before = some.map((one) => versionOf(view.held(one.resource, one.id)));
      await comparison.copy.read(some);
      for (const [i, one] of some.entries()) {
        const verdict = examine(comparison, one, before[i] ?? null, around);
        if (verdict === "moving") moving.push(one);
        else findings.push(...comparison.findingOf(one, verdict));
      }
    }
    open = moving;
    if (open.length === 0 || clock.monotonicMs() - sinceMs >= longestWaitMs) break;
    await clock.sleep(quietMs, signal);
    throwIfAborted(signal, "stopped before all was compared");
  }
  for (const { resource, id } of open)
    uncompared.push({ resource, id, message: "it kept changing while it was compared" });
  return findings;
}

/** Some records with a route of their own at a time; a list is read once for all others. */
function askedTogether({ view }: Comparison, suspects: readonly Suspect[]): Suspect[][] {
  const groups = Map.groupBy(suspects, ({ resource }) =>
    resourceNamed(view.declaration, resource).detail === undefined ? resource : null,
  );
  return [...groups].flatMap(([list, some]) => {
    const size = list === null ? askedAtOnce : some.length;
    return Array.from({ length: Math.ceil(some.length / size) }, (_, i) =>
      some.slice(i * size, (i + 1) * size),
    );
  });
}

/** `moving`: it differs, but the mirror may be about to read it. */
function examine(comparison: Comparison, one: Suspect, before: string | null, around: Circumstances) {
  const { clock, isWritten } = around;
  const { view } = comparison;
  const held = view.held(one.resource, one.id);
  const verdict = comparison.verdictOf(one.resource, one.id, held);
  if (verdict.kind === "equal" || verdict.kind === "unreadable") return verdict;
  const state = versionOf(held);
  if (state === before && !isWritten()) return verdict;
  const isQuiet = state === before && state === one.state;
  const queue = new WorkQueue(view.db);
  if (isQuiet && !queue.mayBeRead(one.resource, one.id, one.reason, clock.nowMs())) {
    return clock.monotonicMs() - one.sinceMs >= quietMs ? verdict : "moving";
  }
  if (!isQuiet) one.reason = queue.newestReason();
  one.state = state;
  one.sinceMs = clock.monotonicMs();
  return "moving";
}
