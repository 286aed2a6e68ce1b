import { defineResource, type Resource } from "../../../src/connector/resource.ts";

/** What a resource has besides its names; `singular` where it is not the name without its last letter. */
type Details = Pick<Resource, "record"> &
  Partial<Pick<Resource, "singular" | "origin" | "preview" | "detail" | "pdf" | "doc" | "fullWhen">>;

const listPath = (name: string) => `/${name.replaceAll("_", "-")}`;

const usual = (name: string, title: string) => {
  const detail = `${listPath(name)}/{id}`;
  return { name, singular: name.slice(0, -1), title, origin: "published", detail } as const;
};

/** A resource that one answer holds in full. */
export function wholeResource(name: string, title: string, details: Details): Resource {
  return defineResource({ ...usual(name, title), list: { kind: "whole", path: listPath(name) }, ...details });
}

/** A resource that is read in pages of 200, ascending by a key that only grows. */
export function pagedResource(
  name: string,
  title: string,
  sortBy: string,
  details: Details,
  perPage = 200,
): Resource {
  const params = { sortBy, sortDirection: "asc" };
  const list = { kind: "paged", path: listPath(name), perPage, params } as const;
  return defineResource({ ...usual(name, title), list, ...details });
}

/** A kind of document. Its list shows previews, ascending by number: unique, and a new document comes last. */
export function documentResource(name: string, title: string, details: Details): Resource {
  return pagedResource(name, title, "number", { ...details, pdf: `${listPath(name)}/{id}/pdf` }, 500);
}
