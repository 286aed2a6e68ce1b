import { recordId, type RecordId } from "../../base/ids.ts";
import { InvalidError } from "../../connector/service-errors.ts";
import type { Resource } from "../../connector/resource.ts";
import { readList, readObject } from "../../extract/answers.ts";
import { isShortPage, pageFacts, walkedFacts, wholeFacts, type PageFacts } from "../../extract/page-facts.ts";
import {
  requestFor,
  type ChildPayload,
  type ListForm,
  type PagePayload,
} from "../../extract/work-request.ts";
import type { Slices } from "../../json/slices.ts";
import { variantsOf } from "../../state/sweeps.ts";
import { mostSweeps } from "../../sync/context/limits.ts";
import { otherListForm } from "../../sync/plan/list-form.ts";
import { childPage, listPage } from "../../sync/plan/list-reads.ts";
import { ReadRefused, type ServiceReader } from "./service-reader.ts";

/** Takes a record of a list as it comes; a list that moves shows some more than once. */
export type TakeRecord = (id: RecordId, slice: Buffer) => void;

/** What a list showed. */
export interface ListShown {
  readonly ids: Set<RecordId>;
  /** Records without a usable id, in one reading. */
  withoutId: number;
  /** Was every record shown, as its total says? */
  isWhole: boolean;
}

/** Which list: of a resource, or of one parent. */
export type ListPlace = Pick<PagePayload, "variant"> | Pick<ChildPayload, "parent" | "parentId">;

/**
 * Reads all lists that show a resource; up to three times while they move. Pages are read last to first, so that a
 * deletion hides no record.
 *
 * @throws as `ServiceReader.read`
 */
export async function readLists(
  reader: ServiceReader,
  resource: Resource,
  take: TakeRecord,
): Promise<ListShown> {
  const all: ListShown = { ids: new Set(), withoutId: 0, isWhole: true };
  if (resource.list.kind === "single") {
    const { path } = resource.list;
    take(1, await reader.read({ path }, "list", readObject));
    all.ids.add(1);
    return all;
  }
  for (const variant of variantsOf(resource)) {
    const shown = await readOneList(reader, resource, { variant }, take);
    for (const id of shown.ids) all.ids.add(id);
    all.withoutId += shown.withoutId;
    all.isWhole &&= shown.isWhole;
  }
  return all;
}

/** Reads one list, as `readLists`. */
export async function readOneList(
  reader: ServiceReader,
  resource: Resource,
  place: ListPlace,
  take: TakeRecord,
): Promise<ListShown> {
  const shown: ListShown = { ids: new Set(), withoutId: 0, isWhole: false };
  for (let tries = 1; !shown.isWhole && tries <= mostSweeps; tries++) {
    shown.withoutId = 0;
    const own = new Set<RecordId>();
    const add = (records: Slices): boolean => {
      const known = own.size + shown.withoutId;
      for (const { id: text, slice } of records) {
        const id = text === null ? null : recordId(text);
        if (id === null) {
          shown.withoutId += 1;
          continue;
        }
        take(id, slice);
        own.add(id);
        shown.ids.add(id);
      }
      return own.size + shown.withoutId > known;
    };
    const { form, facts, records } = await readFirstPage(reader, resource, place);
    add(records);
    if (resource.list.kind === "walked") {
      // What a deletion hid meanwhile is asked for one by one.
      shown.isWhole = await walk(reader, resource, place, { first: facts, add });
      continue;
    }
    let total = facts.total;
    const pages = Array.from({ length: facts.pages - 1 }, (_, i) => facts.pages - i);
    await reader.forEach(pages, async (page) => {
      const next = await readPage(reader, resource, place, { ...form, perPage: facts.perPage, page });
      add(next.records);
      if (next.facts.total !== total) total = Number.NaN;
    });
    shown.isWhole = shown.ids.size + shown.withoutId === total;
  }
  return shown;
}

/**
 * The pages after the first of a list without a total, up to one that is not full. False: a full one shows nothing new,
 * and page 1 had no room for more.
 */
async function walk(
  reader: ServiceReader,
  resource: Resource,
  place: ListPlace,
  { first, add }: { readonly first: PageFacts; readonly add: (records: Slices) => boolean },
): Promise<boolean> {
  for (let facts = first; facts.pages > facts.page;) {
    const next = await readPage(reader, resource, place, { page: facts.page + 1, perPage: first.perPage });
    ({ facts } = next);
    if (!add(next.records) && facts.pages > facts.page)
      return facts.page === 2 && isShortPage(resource, first);
  }
  return true;
}

/** The first page, in the form that the service accepts. */
async function readFirstPage(
  reader: ServiceReader,
  resource: Resource,
  place: ListPlace,
  form: ListForm = {},
): Promise<Awaited<ReturnType<typeof readPage>> & { readonly form: ListForm }> {
  try {
    return { form, ...(await readPage(reader, resource, place, { ...form, page: 1 })) };
  } catch (error) {
    const isInvalid = error instanceof ReadRefused && error.reason instanceof InvalidError;
    const other = isInvalid ? otherListForm(resource.list, form, error.reason) : null;
    if (other) return readFirstPage(reader, resource, place, other);
    throw error;
  }
}

function readPage(
  reader: ServiceReader,
  resource: Resource,
  place: ListPlace,
  page: ListForm & { readonly page: number },
) {
  const { list } = resource;
  const isChild = "parent" in place;
  const work = isChild
    ? childPage(resource.name, { ...page, ...place }, 0)
    : listPage(resource.name, { ...page, ...place }, 0);
  const read = requestFor(resource, { ...work, id: 0, attempts: 0 });
  const factsOf = (count: number, paginator: unknown): PageFacts => {
    if (list.kind === "walked") return walkedFacts(page, list.pageSize, count);
    return list.kind === "whole" ? wholeFacts(count) : pageFacts(paginator, page.page);
  };
  return reader.read(read, isChild ? "child" : "list", (body) => {
    const { records, paginator } = readList(body, list);
    return { records, facts: factsOf(records.count, paginator) };
  });
}
