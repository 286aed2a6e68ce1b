import type { Clock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import type { RecordId } from "../../src/base/ids.ts";
import type { Resource } from "../../src/connector/resource.ts";
import { Listings } from "../../src/state/listings.ts";
import type { Mirror } from "../../src/state/mirror.ts";
import { Parents } from "../../src/state/parents.ts";
import type { ReadStamp } from "../../src/store/apply/read-stamp.ts";
import { Runs } from "../../src/state/runs.ts";
import { runRemovals } from "../../src/sync/deletion/mass-delete-guard.ts";
import type { RunContext } from "../../src/sync/context/run-context.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import { takeChildList } from "../../src/sync/apply/child-list-answer.ts";
import { takeDetail } from "../../src/sync/apply/detail-answer.ts";
import { takeList } from "../../src/sync/apply/list-answer.ts";
import { Inbox } from "../../src/state/inbox/inbox.ts";
import type { NewWorkItem, WorkItem } from "../../src/state/work-item.ts";
import { WorkQueue } from "../../src/state/work-queue.ts";
import { resourceOf } from "./mirror.ts";
import { reading, startMs } from "./store.ts";

export const stillClock: Clock = {
  nowMs: () => startMs,
  monotonicMs: () => 0,
  sleep: async () => undefined,
};

/** A run in its beginning, with every resource of the mirror unless some are named. */
export function sessionOf(
  mirror: Mirror,
  more: Partial<RunContext> = {},
  names?: readonly string[],
): RunContext {
  const { manifest } = mirror;
  const selected = manifest.resources.filter((one) => names?.includes(one.name) ?? true);
  const runs = new Runs(mirror.db);
  return {
    manifest,
    mirror,
    clock: stillClock,
    log: silentLog,
    tally: new Tally(),
    runs,
    run: mirror.apply(() => runs.begin("incremental", new Date(startMs).toISOString(), null, {})),
    startedAtMs: startMs,
    full: false,
    allowMassDelete: false,
    parentBudget: null,
    share: "all",
    queue: new WorkQueue(mirror.db),
    inbox: new Inbox(mirror.db),
    listings: new Listings(mirror.db),
    parents: new Parents(mirror.db),
    selected: new Map(selected.map((one) => [one.name, one])),
    provenRoutes: new Set(),
    probeCandidates: new Map(),
    probeTrials: new Map(),
    removals: runRemovals(),
    withoutId: new Map(),
    afterCommit: [],
    ...more,
  };
}

/** A row that was added and leased, whatever else is in the queue. */
export function leased(
  session: RunContext,
  work: Omit<NewWorkItem, "dirtySeq"> & { dirtySeq?: number },
): WorkItem {
  session.queue.add({ dirtySeq: session.mirror.sequence.next(), ...work });
  const sql = "SELECT id FROM _work WHERE resource = ? AND target = ?";
  const id = Number(session.mirror.db.prepare(sql).pluck().get(work.resource, work.target));
  const others: WorkItem[] = [];
  try {
    for (;;) {
      const row = session.queue.lease(startMs, [work.resource]);
      if (!row) throw new Error(`${work.target} cannot be leased`);
      if (row.id === id) return row;
      others.push(row);
    }
  } finally {
    for (const other of others) session.queue.release(other);
  }
}

export function detailWork(session: RunContext, resource: string, id: RecordId): WorkItem {
  return leased(session, { kind: "detail", resource, target: `id:${id}`, lane: "hydration", reason: "new" });
}

export function detail(
  session: RunContext,
  resource: string,
  record: object,
  work: WorkItem,
  at?: ReadStamp,
): void {
  const body = Buffer.from(JSON.stringify(record));
  const answer = at ?? reading(session.mirror, { cause: "hydrate" });
  takeDetail(session, resourceOf(resource), work, answer, body);
  session.queue.release(work);
}

export interface PageOptions {
  readonly page?: number;
  readonly variant?: string;
  readonly attempt?: number;
  readonly total?: number;
  readonly perPage?: number;
  readonly at?: ReadStamp;
}

/** One page of a list, as the service answers it. The paginator tells the truth unless `options` lie. */
export async function page(
  session: RunContext,
  resource: string,
  records: readonly object[],
  options: PageOptions = {},
): Promise<void> {
  const { page: number = 1, variant = "", attempt = 1 } = options;
  const { list } = resourceOf(resource);
  const work = leased(session, {
    kind: "list",
    resource,
    target: `page:${variant}:${number}`,
    lane: "list",
    reason: "sweep",
    payload: { variant, page: number, attempt },
    dirtySeq: 0,
  });
  const answer = options.at ?? reading(session.mirror);
  const body = bodyOf(list, records, number, options);
  await takeList(session, resourceOf(resource), work, answer, body);
  session.queue.release(work);
}

export function childPage(
  session: RunContext,
  parentId: number,
  records: readonly object[],
  options: PageOptions = {},
): void {
  const { page: number = 1 } = options;
  const work = leased(session, {
    kind: "child",
    resource: "notes",
    target: `child:people:${parentId}:${number}`,
    lane: "list",
    reason: "parent",
    payload: { parent: "people", parentId: String(parentId), page: number },
    dirtySeq: 0,
  });
  const { list } = resourceOf("notes");
  const answer = options.at ?? reading(session.mirror);
  takeChildList(session, resourceOf("notes"), work, answer, bodyOf(list, records, number, options));
  session.queue.release(work);
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
export function waiting(session: RunContext): string[] {
  const sql =
    "SELECT resource || ' ' || target || ' ' || kind || ' ' || reason FROM _work ORDER BY resource, id";
  return session.mirror.db.prepare(sql).pluck().all() as string[];
}
