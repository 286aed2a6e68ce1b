import { pathOf, type Resource } from "../connector/resource.ts";
import type { ServiceRequest } from "../connector/transport.ts";
import { recordId, type RecordId } from "../base/ids.ts";
import type { WorkItem } from "../state/work-item.ts";

/** Payload of the work item for a page of a list. */
export interface PagePayload {
  readonly variant: string;
  readonly page: number;
  /** Smaller than the resource's own where the service refused that size. */
  readonly perPage?: number;
  readonly attempt?: number;
}

/** Payload of the work item for a page of a parent's list. */
export interface ChildPayload {
  readonly parent: string;
  readonly parentId: string;
  readonly page: number;
}

type Read = Pick<ServiceRequest, "method" | "path" | "query" | "expect">;

/** Pure: the request of a work item. Throws when the item does not fit the resource. */
export function requestFor(resource: Resource, work: WorkItem): Read {
  if (work.kind === "list") return pageRequest(resource, work.payload as PagePayload);
  if (work.kind === "child") return childRequest(resource, work.payload as ChildPayload);
  if (work.kind === "file") {
    return { method: "GET", path: pathOf(resource.pdf ?? "", recordOf(work)), expect: "bytes" };
  }
  return get(pathOf(resource.detail ?? "", recordOf(work)));
}

/** The id in the target `id:17`. */
export function recordOf(work: WorkItem): RecordId {
  const id = recordId(work.target.slice("id:".length));
  if (id === null) throw new Error(`broken promise: ${work.target} names a record`);
  return id;
}

/** The id of the parent whose list is read. */
export function parentIdOf(payload: ChildPayload): RecordId {
  const id = recordId(payload.parentId);
  if (id === null) throw new Error(`broken promise: ${payload.parentId} names a parent`);
  return id;
}

function pageRequest(resource: Resource, { variant, page, perPage }: PagePayload): Read {
  const { list } = resource;
  if (list.kind === "single") return get(list.path);
  if (list.kind === "whole") return get(list.path, list.variants ? { [list.variants.param]: variant } : {});
  if (list.kind !== "paged") throw new Error(`broken promise: ${resource.name} has pages`);
  return get(list.path, { ...list.params, perPage: perPage ?? list.perPage, page });
}

function childRequest(resource: Resource, { parent, parentId, page }: ChildPayload): Read {
  const { list } = resource;
  if (list.kind !== "parents") throw new Error(`broken promise: ${resource.name} is listed by parents`);
  const link = list.parents.find((candidate) => candidate.resource === parent);
  if (!link) throw new Error(`broken promise: ${parent} is a parent of ${resource.name}`);
  return get(list.path, { [link.param]: parentId, perPage: list.perPage, page });
}

function get(path: string, query: Read["query"] = {}): Read {
  return { method: "GET", path, query, expect: "json" };
}
