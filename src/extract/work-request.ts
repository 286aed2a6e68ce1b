import { pathOf, type Resource } from "../connector/resource.ts";
import type { ServiceRequest } from "../connector/transport.ts";
import { assert } from "../base/errors.ts";
import { recordId, type RecordId, type RecordRef } from "../base/ids.ts";
import type { WorkItem } from "../state/work-item.ts";

/** How a list is asked for where the service refuses the connector's way. */
export interface ListForm {
  /** Smaller than the resource's own. */
  readonly perPage?: number;
  /** Without the connector's order. */
  readonly unsorted?: true;
}

interface PageOfReading extends ListForm {
  readonly page: number;
  /** Number of the reading. @default 1 */
  readonly attempt?: number;
  /** The page was read in this reading before: records were appended since. */
  readonly again?: true;
}

export interface QuickList {
  /** `all`: every page. `open`: the same, and then the open records that no page showed. `latest`: while pages show news. */
  readonly kind: "all" | "open" | "latest";
  /** In place of the connector's order. */
  readonly params: Readonly<Record<string, string>>;
}

export interface PagePayload extends PageOfReading {
  readonly variant: string;
  readonly quick?: QuickList;
  /** ISO: the list of changes since then. */
  readonly since?: string;
  /** The newest time stamp on the pages before; see `ChangesPlan`. */
  readonly newest?: string | null;
  /** The same of the reading before this one: that one showed all that changed before. */
  readonly newestBefore?: string | null;
}

export interface ChildPayload extends PageOfReading {
  readonly parent: string;
  readonly parentId: string;
}

type ReadRequest = Pick<ServiceRequest, "method" | "path" | "query" | "expect">;

/**
 * Pure: the request of a work item. Throws when the item does not fit the resource.
 *
 * @param form how the resource's lists are asked for, where the item does not say it
 */
export function requestFor(resource: Resource, work: WorkItem, form: ListForm = {}): ReadRequest {
  if (work.kind === "list") return pageRequest(resource, { ...form, ...(work.payload as PagePayload) });
  if (work.kind === "child") return childRequest(resource, { ...form, ...(work.payload as ChildPayload) });
  return get(pathOf(resource.detail ?? "", recordOf(work)));
}

/** The id in the target `id:17`. */
export function recordOf(work: WorkItem): RecordId {
  return idIn(work.target.slice("id:".length));
}

export function parentOf({ parent, parentId }: ChildPayload): RecordRef {
  return { resource: parent, id: idIn(parentId) };
}

function idIn(text: string): RecordId {
  const id = recordId(text);
  assert(id !== null, `${text} is an id`);
  return id;
}

function pageRequest(resource: Resource, payload: PagePayload): ReadRequest {
  const { variant, page, perPage, unsorted, quick, since } = payload;
  const { list } = resource;
  if (list.kind === "single") return get(list.path);
  if (list.kind === "whole") return get(list.path, list.variants ? { [list.variants.param]: variant } : {});
  if (list.kind === "walked") {
    const changes = since === undefined || !list.changes ? {} : { [list.changes.since]: since };
    return get(list.path, { ...list.params, ...changes, page });
  }
  assert(list.kind === "paged", `${resource.name} has pages`);
  const params = quick?.params ?? (unsorted ? {} : list.params);
  return get(list.path, { ...params, perPage: perPage ?? list.perPage, page });
}

function childRequest(resource: Resource, { parent, parentId, page, perPage }: ChildPayload): ReadRequest {
  const { list } = resource;
  assert(list.kind === "parents", `${resource.name} is listed by parents`);
  const link = list.parents.find((candidate) => candidate.resource === parent);
  assert(link, `${parent} is a parent of ${resource.name}`);
  return get(list.path, { [link.param]: parentId, perPage: perPage ?? list.perPage, page });
}

function get(path: string, query: ReadRequest["query"] = {}): ReadRequest {
  return { method: "GET", path, query, expect: "json" };
}
