import { dayMs } from "../../base/clock.ts";
import type { RecordId } from "../../base/ids.ts";
import type { Resource } from "../../connector/resource.ts";
import type { PageFacts } from "../../extract/answers.ts";
import type { PagePayload, QuickList } from "../../extract/work-request.ts";
import type { AnswerContext, RunContext } from "../context/run-context.ts";
import { listPage } from "./list-reads.ts";
import { queueRecord } from "./read-reasons.ts";
import { variantsOf } from "../../state/sweeps.ts";

/** A list of a quick run has this many pages at most. One with the latest changes first is cut off earlier. */
const mostPages = { all: 20, open: 20, latest: 5 };

/** So many records that are no longer open are read in one quick run. */
const mostClosed = 200;

const whole: QuickList = { kind: "all", params: {} };

export function quickLists({ list }: Resource, nowMs: number): QuickList[] {
  if (list.kind !== "paged" || !list.quick) return [];
  const { since, open, latestFirst } = list.quick;
  const day = (days: number) => new Date(nowMs - days * dayMs).toISOString().slice(0, 10);
  const those = (kind: QuickList["kind"], param: string, value: string): QuickList => {
    return { kind, params: { ...list.params, [param]: value } };
  };
  const lately = since && those("all", since.param, day(since.days));
  const unsettled = open ? open.values.map((value) => those("open", open.param, value)) : [];
  const latest = latestFirst && { kind: "latest" as const, params: latestFirst };
  return [...(lately ? [lately] : []), ...unsettled, ...(latest ? [latest] : [])];
}

/**
 * Queues what a quick run begins with: lists that come in one answer, and those of `quickLists`.
 * Guard: once per run; lists that the last one left are dropped.
 */
export function addQuickWork(run: RunContext): void {
  const { queue, resources, startedAtMs, openRecords } = run;
  queue.dropQuickLists();
  for (const resource of resources) {
    if (resource.list.kind === "whole")
      for (const variant of variantsOf(resource))
        queueQuickPage(run, resource, { variant, page: 1, quick: whole });
    const lists = quickLists(resource, startedAtMs);
    for (const quick of lists) queueQuickPage(run, resource, { variant: "", page: 1, quick });
    const unread = lists.filter(({ kind }) => kind === "open").length;
    if (unread > 0) openRecords.set(resource.name, { shown: new Set(), unread });
  }
}

function queueQuickPage({ queue, mirror }: RunContext, { name }: Resource, payload: PagePayload): void {
  queue.add({ ...listPage(name, payload, mirror.sequence.next()), lane: "quick", reason: "quick" });
}

/**
 * What follows from a page of a quick run: the next page, or the records that were open and that no list of open
 * records shows any more. Nothing is noted as read whole, and no record as absent.
 * Guard: `mostPages` and `mostClosed`; a page without records ends its list.
 */
export function followQuickPage(
  answer: AnswerContext,
  { page, pages, perPage }: PageFacts,
  { ids, changes }: { readonly ids: readonly RecordId[]; readonly changes: number },
): void {
  const { run, resource, item } = answer;
  const payload = item.payload as PagePayload;
  const { quick } = payload;
  if (!quick || resource.list.kind !== "paged") return;
  const { shown } = run.openRecords.get(resource.name) ?? {};
  if (quick.kind === "open") for (const id of ids) shown?.add(id);
  const isMore = page < pages && ids.length > 0 && (quick.kind !== "latest" || changes > 0);
  const smaller = perPage < resource.list.perPage ? { perPage } : {};
  if (isMore && page < mostPages[quick.kind])
    queueQuickPage(run, resource, { ...payload, ...smaller, page: page + 1 });
  else if (!isMore && quick.kind === "open") endOpenList(answer);
}

function endOpenList(answer: AnswerContext): void {
  const { run, resource } = answer;
  const open = run.openRecords.get(resource.name);
  if (!open || --open.unread > 0 || resource.list.kind !== "paged") return;
  const { column, values = [] } = resource.list.quick?.open ?? {};
  const rows = values.flatMap((value) =>
    run.mirror.records.liveIdsWhere(resource.name, { [column ?? ""]: value }),
  );
  const closed = rows.filter((id) => !open.shown.has(id)).slice(0, mostClosed);
  for (const id of closed) queueRecord(answer, "closed", { resource: resource.name, id });
}
