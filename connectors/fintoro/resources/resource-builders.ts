import { defineResource, type Resource } from "../../../src/connector/resource.ts";

/** What a resource has besides its names; `singular` where it is not the name without its last letter. */
type Details = Pick<Resource, "record"> &
  Partial<
    Pick<Resource, "singular" | "origin" | "preview" | "detail" | "pdf" | "doc" | "fullWhen" | "lookedUpBy">
  >;

const listPath = (name: string) => `/${name.replaceAll("_", "-")}`;

/** A published resource with a route for each record; singular and paths follow from the table's name. */
export function resource(name: string, title: string, details: Details & Pick<Resource, "list">): Resource {
  const detail = `${listPath(name)}/{id}`;
  return defineResource({
    name,
    singular: name.slice(0, -1),
    title,
    origin: "published",
    detail,
    ...details,
  });
}

/** A resource that one answer holds in full. */
export function wholeResource(name: string, title: string, details: Details): Resource {
  return resource(name, title, { list: { kind: "whole", path: listPath(name) }, ...details });
}

/** A resource that is read in pages of 200, ascending by a key that only grows; null: by the service's own, the id. */
export function pagedResource(
  name: string,
  title: string,
  sortBy: string | null,
  details: Details,
  perPage = 200,
): Resource {
  const params = { ...(sortBy !== null && { sortBy }), sortDirection: "asc" };
  return resource(name, title, {
    list: { kind: "paged", path: listPath(name), perPage, params },
    ...details,
  });
}

/** A kind of document. Its list shows previews, ascending by number: unique, and a new document comes last. */
export function documentResource(name: string, title: string, details: Details): Resource {
  return pagedResource(name, title, "number", { ...details, pdf: `${listPath(name)}/{id}/pdf` }, 500);
}
