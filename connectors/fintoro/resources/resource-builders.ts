import { defineResource } from "../../../src/connector/resource.ts";
import type { QuickPlan, RecordFiles, Resource } from "../../../src/connector/resource.ts";

type Details = Pick<Resource, "record"> & Partial<Omit<Resource, "name" | "title" | "list" | "record">>;

const listPath = (name: string) => `/${name.replaceAll("_", "-")}`;

/** A resource with a route for each record, which follows from the table's name. */
export function resource(name: string, title: string, details: Details & Pick<Resource, "list">): Resource {
  return defineResource({ name, title, detail: `${listPath(name)}/{id}`, ...details });
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
  { quick, ...details }: Details & { readonly quick?: QuickPlan },
  perPage = 200,
): Resource {
  const params = { ...(sortBy !== null && { sortBy }), sortDirection: "asc" };
  return resource(name, title, {
    list: { kind: "paged", path: listPath(name), perPage, params, ...(quick && { quick }) },
    ...details,
  });
}

/** The PDF of each record of a resource, named by its number and its party. */
export function pdfOf(name: string, party: string): RecordFiles {
  const path = `${listPath(name)}/{id}/pdf`;
  return { kind: "pdf", path, mediaType: "application/pdf", date: "issue_date", name: ["number", party] };
}

/** Values of `paymentStatus` that a document has while it is open. */
export const unpaid = {
  param: "paymentStatus",
  values: ["unpaid", "partially_paid", "overdue"],
  column: "status",
} as const;

/**
 * A kind of document. Its list shows previews, ascending by number: unique, and a new document comes last. A quick run
 * reads those of the last 45 days, and the open ones.
 */
export function documentResource(
  name: string,
  title: string,
  { open, ...details }: Details & Pick<QuickPlan, "open">,
): Resource {
  const files = pdfOf(name, "client_name");
  const quick = { since: { param: "issueDateFrom", days: 45 }, ...(open && { open }) };
  return pagedResource(name, title, "number", { ...details, files, quick }, 500);
}
