import { defineResource, type Resource } from "../../../src/connector/resource.ts";

type Details = Pick<Resource, "record"> & Partial<Pick<Resource, "origin" | "detail" | "doc">>;

/** A resource that one answer holds in full; its path is its name with dashes. */
export function wholeResource(name: string, singular: string, title: string, details: Details): Resource {
  const path = `/${name.replaceAll("_", "-")}`;
  return defineResource({
    name,
    singular,
    title,
    origin: "published",
    list: { kind: "whole", path },
    ...details,
  });
}

/**
 * A kind of document. Its list shows previews, 500 a page, ascending by number: unique, and a new document comes
 * last.
 */
export function documentResource(
  singular: string,
  title: string,
  details: Pick<Resource, "record" | "preview" | "doc">,
): Resource {
  const name = `${singular}s`;
  const path = `/${name.replaceAll("_", "-")}`;
  const params = { sortBy: "number", sortDirection: "asc" };
  return defineResource({
    name,
    singular,
    title,
    origin: "published",
    list: { kind: "paged", path, perPage: 500, params },
    detail: `${path}/{id}`,
    pdf: `${path}/{id}/pdf`,
    ...details,
  });
}
