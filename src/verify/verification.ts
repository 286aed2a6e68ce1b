import { appendFileSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dayMs, elapsedSince, isoTime, type Clock } from "../base/clock.ts";
import { throwIfAborted, valueOr } from "../base/errors.ts";
import type { RecordId } from "../base/ids.ts";
import type { Random } from "../base/random.ts";
import { resourceNamed } from "../connector/connector-declaration.ts";
import type { Transport } from "../connector/transport.ts";
import type { ResourceProgress } from "../log/progress.ts";
import { batchRetryPolicy } from "../retry/retry-policies.ts";
import type { Mirror } from "../state/mirror.ts";
import { WorkQueue } from "../state/work-queue.ts";
import { isAsReceived, readHeld } from "../store/apply/held-record.ts";
import { stampWithoutRead } from "../store/apply/read-stamp.ts";
import type { ResourceTable } from "../store/apply/resource-table.ts";
import type { Db } from "../store/database.ts";
import { createRunContext, type ReadContext, type RunContext } from "../sync/context/run-context.ts";
import { Tally } from "../sync/context/tally.ts";
import { holdMassDelete, mayRemove, removeRecord, runRemovals } from "../sync/deletion/deletion.ts";
import { Engine } from "../sync/engine/engine.ts";
import { identify } from "../sync/identity/identify.ts";
import { MirrorView } from "./compare-record.ts";
import { Comparison, nameDifferences, type DeepRead, type Finding } from "./comparison.ts";
import { repairLocally, repairRead } from "./local/repair-locally.ts";
import { ServiceCopy, type Asking, type AskedRead } from "./service-copy.ts";

export type SampleSize = number | "all";

interface VerificationParts extends Asking {
  readonly db: Db;
  readonly token: string;
  readonly random: Random;
  readonly patienceMs: number;
  readonly sample: SampleSize;
  /** Only the documents of these days are compared, each by its detail. @default all of the mirror */
  readonly month?: { readonly from: string; readonly to: string } | undefined;
  readonly shownFile: string;
  readonly isWritten: () => boolean;
  readonly compared: ComparedReads;
}

/** Details that are read before they are compared and noted. */
const readAtOnce = 20;

/**
 * Compares one mirror with the service: all lists, a sample of details; then asks again for what seems to differ.
 *
 * Guarantee: nothing is written into the mirror. An untouched record is never named (see `nameDifferences`).
 * Source of truth: the service.
 * Worst outcome of a crash: the next one reads the lists again, and details that are not in `ComparedReads`.
 */
export class Verification {
  readonly comparison: Comparison;
  readonly tally = new Tally();
  private readonly parts: VerificationParts;
  private sample: readonly DeepRead[] = [];
  private deepReadsDone = 0;
  private known = 0;

  constructor(parts: VerificationParts) {
    const { db, declaration, resources, shownFile } = parts;
    this.parts = parts;
    const copy = new ServiceCopy(shownFile, parts, this.tally, this.policy());
    this.comparison = new Comparison(new MirrorView(db, declaration), copy, resources);
    if (parts.month) this.comparison.addMonth(parts.month);
  }

  /** Asks for the company: the token must be of the mirror's (I10). */
  private policy() {
    const { parts, tally } = this;
    const { signal } = parts;
    const ask = () =>
      identify({ ...parts, mirror: parts, tally }, { acceptIdentity: false, lane: "list", signal });
    return batchRetryPolicy({ ...parts, tally, ended: signal }, ask);
  }

  /**
   * Compares and returns what differs.
   *
   * @throws MirrorError `identity` for a token of another company, `stopped`, and what concerns the whole service
   */
  async compare(): Promise<Finding[]> {
    const { comparison, parts } = this;
    const { copy, resources } = comparison;
    await this.policy().untilAnswered();
    if (!parts.month) {
      await copy.readLists(resources);
      for (const resource of resources) await comparison.compareLists(resource, parts.signal);
    }
    this.sample = parts.month ? comparison.deepReads : this.chooseReads();
    await this.compareSample();
    if (parts.month) {
      await comparison.addListedInMonth(parts.month, this.asking());
      await this.compareSample();
    }
    const { suspected } = comparison;
    // What was just read need not be asked for again; but what a document owns was not read where the document was not.
    const verdicts = suspected.map((one) => comparison.verdictOf(one.resource, one.id));
    const isAnswered = verdicts.every(({ kind }) => kind !== "unreadable");
    if (parts.month && !parts.isWritten() && isAnswered)
      return suspected.flatMap((one, at) => comparison.findingOf(one, verdicts[at] ?? { kind: "equal" }));
    const { length: records } = suspected;
    if (records > 0) parts.log.info("what seems to differ is asked for again", { records });
    return nameDifferences(comparison, parts);
  }

  /** What is to be compared, without what an interrupted verification compared. */
  private chooseReads(): DeepRead[] {
    const { comparison, parts } = this;
    const { compared, log, random, sample } = parts;
    const { known = [], left = [] } = Object.groupBy(comparison.deepReads, (read) =>
      compared.since !== null && compared.has(read, comparison.lastChangesOf(read)) ? "known" : "left",
    );
    for (const { resource, listOf } of known) comparison.countsOf(listOf ?? resource).details += 1;
    this.known = known.length;
    if (this.resumed) log.info("resumed: details that were compared before are not read again", this.resumed);
    return chooseSample(left, sample === "all" ? sample : Math.max(0, sample - known.length), random);
  }

  /** Sends each request once, and counts it. */
  private asking(): Transport {
    const { signal, transport } = this.parts;
    const onSent = () => this.tally.sent("list");
    return { send: (request) => transport.send({ ...request, lane: "list", once: true, signal, onSent }) };
  }

  /** Reads and compares the sample, some at a time, and notes those where nothing differs. */
  private async compareSample(): Promise<void> {
    const { comparison, parts, sample } = this;
    while (this.deepReadsDone < sample.length) {
      const reads = sample.slice(this.deepReadsDone, this.deepReadsDone + readAtOnce);
      // Of before the answers: a change meanwhile makes it another one.
      const states = reads.map((read) => comparison.lastChangesOf(read));
      await comparison.copy.read(reads);
      for (const [i, read] of reads.entries())
        if (comparison.compareRead(read)) parts.compared.add(read, states[i] ?? "");
      this.deepReadsDone += reads.length;
    }
  }

  get resumed() {
    const { since } = this.parts.compared;
    return since === null || this.known === 0 ? null : { since, details: this.known };
  }

  /**
   * Reads again what differs, through the work queue and the step that applies every answer; then makes rows anew that are
   * not those of their record. What has no route of its own is applied from its list. Compares all of it once more, and
   * returns what still differs.
   *
   * Guarantee: each record is queued in the transaction that declares it doubtful (I1), each change is in the log with
   * cause `repair` (I2), a deletion needs its proof, and more than a few need permission (I5).
   * Source of truth: the service; the work queue for what is still to be read.
   * Worst outcome of a crash: what was queued is read by the next run.
   *
   * @param mirror the same one, opened for writing; the caller holds the writer lock
   * @throws MirrorError `stopped`, and what concerns the whole service
   */
  async repair(mirror: Mirror, findings: readonly Finding[]): Promise<Finding[]> {
    const { comparison, parts, tally } = this;
    const { clock, resources, signal } = parts;
    const queue = new WorkQueue(mirror.db);
    const { provenRoutes } = comparison.copy;
    // Beside what is repaired, nothing but events that wait is in the lane of events.
    const settings = { resources, signal, provenRoutes, removals: runRemovals() };
    const run = createRunContext({ ...parts, mirror, queue, tally }, settings);
    // What the mirror knows by itself: fences and the change log fit together before more changes follow.
    await repairLocally({ mirror, queue, clock }, { signal });
    const isOwn = ({ resource }: Finding) => resourceNamed(mirror.declaration, resource).detail !== undefined;
    const { own = [], listed = [] } = Object.groupBy(findings, (one) => (isOwn(one) ? "own" : "listed"));
    mirror.apply(() => {
      const dirtySeq = mirror.sequence.next();
      for (const { resource, id, verdict } of own) {
        distrust(mirror.table(resource), id);
        const kind = verdict.kind === "extra" ? "confirm" : "detail";
        // In the lane of events, which is all that this run reads.
        queue.add({ ...repairRead(resource, id, dirtySeq), kind, lane: "webhook" });
      }
    });
    await new Engine(run, { ...parts, policy: this.policy() }).work();
    throwIfAborted(signal, "stopped before all was repaired; the next run reads the rest");
    for (const [name, some] of Map.groupBy(listed, ({ resource }) => resource)) {
      const ids = some.map(({ id }) => id);
      await this.applyLists(run, name, ids);
    }
    const stamp = stampWithoutRead("repair", clock);
    mirror.apply(() => {
      for (const { resource, id } of findings) mirror.table(resource).derive(id, stamp);
    });
    comparison.suspects.clear();
    for (const { resource, id } of findings) comparison.suspect(resource, id);
    return nameDifferences(comparison, parts);
  }

  /** The lists of records without a route of their own, read again, decide about those that differ. */
  private async applyLists(run: RunContext, name: string, wanted: readonly RecordId[]): Promise<void> {
    const { copy } = this.comparison;
    const { mirror, clock } = run;
    const resource = resourceNamed(mirror.declaration, name);
    const sentSeq = mirror.sequence.next();
    await copy.readLists([resource]);
    const seqs = { sentSeq, receivedSeq: mirror.sequence.next() };
    const read: ReadContext = { run, stamp: { ...stampWithoutRead("repair", clock), ...seqs } };
    mirror.apply(() => {
      const table = mirror.table(name);
      const shown = wanted.map((id) => ({ id, ...copy.shown(resource, id) }));
      const absent = shown.flatMap(({ id, kind }) => (kind === "absent" ? [id] : []));
      const live = absent.filter((id) => mirror.records.isLive(name, id)).length;
      for (const id of wanted) distrust(table, id);
      for (const one of shown)
        if (one.kind === "shown")
          table.put({ stamp: read.stamp, id: one.id, slice: one.slice, source: "list" });
      if (!copy.isWhole(name)) return;
      if (mayRemove(run, name, live)) for (const id of absent) removeRecord(read, resource, id);
      else holdMassDelete(run, name, live);
    });
    for (const callback of run.afterCommit.splice(0)) callback();
  }

  [Symbol.dispose](): void {
    this.comparison.copy.close();
  }

  resourceProgress(): ResourceProgress[] {
    const { counts, suspects } = this.comparison;
    const lists = [...counts].map(([name, { mirror, isDone }]): ResourceProgress => {
      const { listed } = this.tally.of(name);
      const phase = isDone ? "done" : listed > 0 ? "listing" : "waiting";
      const done = isDone ? mirror : listed;
      return { name, phase, done, total: null, changed: suspects.get(name)?.size ?? 0 };
    });
    const total = this.sample.length;
    if (total === 0) return lists;
    const phase = this.deepReadsDone < total ? "reading" : "done";
    return [...lists, { name: "details", phase, done: this.deepReadsDone, total, changed: 0 }];
  }
}

/** The next read of the record is stored, where the JSON is not the one that its hash is of, or has no fence. */
function distrust({ statements }: ResourceTable, id: RecordId): void {
  const held = readHeld(statements, id);
  if (!held.fence) statements.clearChildren(id);
  else if (!isAsReceived(held)) statements.of("forgetSha").run(id);
}

/** Half of the sample are those read longest ago, half are random ones of the rest. Pure but for `random`. */
function chooseSample(pool: readonly DeepRead[], size: SampleSize, random: Random): DeepRead[] {
  if (size === "all" || size >= pool.length) return [...pool];
  const rest = pool.toSorted((a, b) => a.readAtMs - b.readAtMs);
  const chosen = rest.splice(0, Math.ceil(size / 2));
  while (chosen.length < size) {
    const at = Math.floor(random.next() * rest.length);
    const [one] = rest.splice(at, 1, ...rest.splice(-1));
    if (one !== undefined) chosen.push(one);
  }
  return chosen;
}

/** The file's first line: of what the comparison is. */
interface Head {
  readonly mirror: string | null;
  /** The command: `verify --all`. */
  readonly by: string;
  readonly since: string;
}

/**
 * Details and lists of parents that were compared and are equal: an interrupted comparison continues with the others.
 *
 * Guarantee: a read is in it only after it was compared, and counts only for the same command, within a day after the
 * interruption, and while the mirror's records are those that were compared.
 * Source of truth: the file: its first line says of what the comparison is, each other one is a read.
 * Worst outcome of a crash: a read whose line is cut is compared again.
 */
export function comparedReads(file: string, { mirror, by }: Omit<Head, "since">, clock: Clock) {
  const nowMs = clock.nowMs();
  const isKept = existsSync(file) && elapsedSince(statSync(file).mtimeMs, nowMs) < dayMs;
  const [head, ...reads] = isKept ? linesOf(file) : [];
  const earlier = head as Head | undefined;
  const continued = earlier?.mirror === mirror && earlier.by === by ? earlier : null;
  const states = new Map(continued ? (reads as [string, string][]) : []);
  const first: Head = { mirror, by, since: isoTime(nowMs) };
  if (!continued) writeFileSync(file, `${JSON.stringify(first)}\n`, { mode: 0o600 });
  return {
    /** When the comparison began that is continued, ISO; null: it begins anew. */
    since: continued?.since ?? null,
    /** @param state another text after each change of what the mirror holds of the read's records */
    has: (read: AskedRead, state: string) => states.get(keyOf(read)) === state,
    /** Notes that the read was compared, and is equal. */
    add: (read: AskedRead, state: string) =>
      appendFileSync(file, `${JSON.stringify([keyOf(read), state])}\n`),
    /** Called when the comparison is complete: the next one begins anew. */
    finish: () => rmSync(file, { force: true }),
  };
}

type ComparedReads = ReturnType<typeof comparedReads>;

function keyOf({ resource, id, listOf }: AskedRead): string {
  return `${resource} ${id} ${listOf ?? ""}`;
}

/** A line that was cut says nothing. */
function linesOf(file: string): unknown[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .flatMap((line) => valueOr(() => [JSON.parse(line) as unknown], []));
}
