import type { Clock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/logger.ts";
import type { RecordId } from "../../../src/base/ids.ts";
import { resourceNamed } from "../../../src/connector/connector-declaration.ts";
import type { Resource } from "../../../src/connector/resource.ts";
import type { Mirror } from "../../../src/state/mirror.ts";
import type { ReadStamp } from "../../../src/store/apply/read-stamp.ts";
import type { LaneShare } from "../../../src/state/lease-order.ts";
import { Runs } from "../../../src/state/runs.ts";
import { removeRecord, runRemovals } from "../../../src/sync/deletion/deletion.ts";
import { applyCounted, createRunContext } from "../../../src/sync/context/run-context.ts";
import type { AnswerContext, RunContext } from "../../../src/sync/context/run-context.ts";
import { Tally } from "../../../src/sync/context/tally.ts";
import { applyDetail } from "../../../src/sync/apply/detail-answer.ts";
import { applyList } from "../../../src/sync/lists/list-answer.ts";
import type { NewWorkItem, WorkItem } from "../../../src/state/work-item.ts";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import { stampOf, startMs, texts } from "./store.ts";

export const stillClock: Clock = { nowMs: () => startMs, monotonicMs: () => 0, sleep: async () => undefined };

/** A run at its beginning, with every resource of the mirror unless some are named. */
export function runContextOf(
  mirror: Mirror,
  more: Partial<RunContext> = {},
  names?: readonly string[],
): RunContext {
  const resources = mirror.declaration.resources.filter((one) => names?.includes(one.name) ?? true);
  const runs = new Runs(mirror.db);
  const queue = new WorkQueue(mirror.db);
  const parts = { mirror, queue, tally: new Tally(), clock: stillClock, log: silentLog };
  const { signal } = new AbortController();
  const run = createRunContext(parts, {
    resources,
    provenRoutes: new Set<string>(),
    signal,
    removals: runRemovals(),
    runId: mirror.apply(() => runs.begin("incremental", new Date(startMs).toISOString(), null, {})),
    startedAtMs: startMs,
    share: "all",
    chainStartedMs: startMs,
    parentReads: { beforeRun: 0, left: Number.MAX_SAFE_INTEGER },
  });
  return { ...run, ...more };
}

/** The item that is next: there is one. */
export function leaseNext(
  queue: WorkQueue,
  resources: readonly string[],
  share: LaneShare = "all",
  atMs = startMs,
): WorkItem {
  const item = queue.lease(atMs, resources, share);
  if (!item) throw new Error("nothing is due");
  return item;
}

/** An item that was added and leased, whatever else is in the queue. */
export function leased(
  run: RunContext,
  item: Omit<NewWorkItem, "dirtySeq"> & { dirtySeq?: number },
): WorkItem {
  run.queue.add({ dirtySeq: run.mirror.sequence.next(), ...item });
  const sql = "SELECT id FROM _work WHERE resource = ? AND target = ?";
  const id = Number(run.mirror.db.prepare(sql).pluck().get(item.resource, item.target));
  const { db } = run.mirror;
  db.prepare("UPDATE _work SET state = 'aside' WHERE id <> ? AND state = 'ready'").run(id);
  const row = run.queue.lease(startMs, [item.resource]);
  db.exec("UPDATE _work SET state = 'ready' WHERE state = 'aside'");
  if (row?.id !== id) throw new Error(`${item.target} cannot be leased`);
  return row;
}

export function detailWork(run: RunContext, resource: string, id: RecordId): WorkItem {
  return leased(run, { kind: "detail", resource, target: `id:${id}`, lane: "hydration", reason: "new" });
}

/** An answer to it, with nothing else on its way. */
export function answerTo(run: RunContext, item: WorkItem, more: Partial<ReadStamp> = {}): AnswerContext {
  const resource = resourceNamed(run.mirror.declaration, item.resource);
  return { run, resource, item, stamp: stampOf(run.mirror, more) };
}

/** An answer to an item that was added, leased and is done with. */
export function answered(
  run: RunContext,
  asked: Omit<NewWorkItem, "dirtySeq">,
  more: Partial<ReadStamp> = {},
): AnswerContext {
  const answer = answerTo(run, leased(run, asked), more);
  run.queue.done(answer.item, answer.stamp.sentSeq);
  run.queue.release(answer.item);
  return answer;
}

/** Applies a record as its own route answers it, and releases the item. */
export function detail(
  run: RunContext,
  resource: string,
  record: object,
  item: WorkItem,
  stamp: ReadStamp = stampOf(run.mirror, { cause: "hydrate" }),
): void {
  const body = Buffer.from(JSON.stringify(record));
  const answer = { run, resource: resourceNamed(run.mirror.declaration, resource), item, stamp };
  applyCounted(run, () => applyDetail(answer, body));
  run.queue.release(item);
}

export function removeProven(
  run: RunContext,
  resource: string,
  id: RecordId,
  stamp: ReadStamp = stampOf(run.mirror),
): boolean {
  const removed = resourceNamed(run.mirror.declaration, resource);
  return run.mirror.apply(() => removeRecord({ run, stamp }, removed, id));
}

export interface PageOptions {
  readonly page?: number;
  readonly variant?: string;
  readonly attempt?: number;
  /** The page is read once more in the same reading. */
  readonly again?: true;
  readonly total?: number;
  readonly perPage?: number;
  /** The page that the answer is of. */
  readonly came?: number;
  readonly at?: ReadStamp;
}

/** One page of a list, as the service answers it. The paginator is right unless `options` change it. */
export function page(
  run: RunContext,
  resource: string,
  records: readonly object[],
  options: PageOptions = {},
): Promise<void> {
  const { page: number = 1, variant = "", attempt = 1, again } = options;
  const payload = { variant, page: number, attempt, ...(again && { again }) };
  const asked = { kind: "list", resource, target: `page:${variant}:${number}`, reason: "sweep" } as const;
  return applyPage(run, { ...asked, payload }, records, options);
}

/** One page of the notes of a person. */
export function childPage(
  run: RunContext,
  parentId: number,
  records: readonly object[],
  options: PageOptions = {},
): Promise<void> {
  const { page: number = 1, attempt = 1 } = options;
  const payload = { parent: "people", parentId: String(parentId), page: number, attempt };
  const target = `child:people:${parentId}:${number}`;
  const asked = { kind: "child", resource: "notes", target, reason: "parent", payload } as const;
  return applyPage(run, asked, records, options);
}

async function applyPage(
  run: RunContext,
  asked: Omit<NewWorkItem, "lane" | "dirtySeq">,
  records: readonly object[],
  options: PageOptions,
): Promise<void> {
  const item = leased(run, { ...asked, lane: "list", dirtySeq: 0 });
  const { page: number = 1, came = number, at: stamp = stampOf(run.mirror) } = options;
  const resource = resourceNamed(run.mirror.declaration, item.resource);
  await applyList({ run, resource, item, stamp }, bodyOf(resource.list, records, came, options));
  run.queue.release(item);
}

function bodyOf(
  list: Resource["list"],
  data: readonly object[],
  number: number,
  options: PageOptions,
): Buffer {
  if (list.kind !== "paged" && list.kind !== "parents") return Buffer.from(JSON.stringify({ data }));
  const { total = data.length, perPage = list.perPage } = options;
  const paginator = { currentPage: number, perPage, totalResults: total };
  const totalPages = Math.max(1, Math.ceil(total / perPage));
  return Buffer.from(JSON.stringify({ data, paginator: { ...paginator, totalPages } }));
}

/** What is still to be read: `people id:7 confirm absent`. */
export const waiting = ({ mirror }: RunContext) =>
  texts(mirror, "SELECT resource, target, kind, reason FROM _work ORDER BY resource, id");
