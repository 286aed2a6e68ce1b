import * as t from "../../../src/connector/record-schema.ts";
import { client } from "./clients.ts";
import { supplier } from "./suppliers.ts";
import { pagedResource, wholeResource } from "./resource-builders.ts";

/** One column of the sales pipeline. */
export const businessCaseStatus = t.record({
  id: t.stated(t.integer()),
  name: t.stated(t.text()),
  color: t.stated(t.doc("Hex colour", t.text())),
});

export const businessCase = t.record({
  id: t.integer(),
  contactType: t.doc("Which of client and supplier it is about", t.oneOf(["client", "supplier"])),
  contactId: t.doc("Id of that client or supplier", t.integer()),
  client: t.orNull(t.nested("clients", client)),
  supplier: t.orNull(t.nested("suppliers", supplier)),
  name: t.text(),
  description: t.orNull(t.text()),
  status: t.stated(
    t.doc(
      "Null when its status was deleted",
      t.orNull(t.nested("business_case_statuses", businessCaseStatus)),
    ),
  ),
  boardPosition: t.doc("Place within its column", t.integer()),
  createdAt: t.orNull(t.timestamp()),
  updatedAt: t.orNull(t.timestamp()),
});

export const businessCaseStatuses = wholeResource("business_case_statuses", "Business case statuses", {
  singular: "business_case_status",
  origin: "stated",
  record: businessCaseStatus,
  doc: "Columns of the sales pipeline",
});

// `id`, the default, is not among the values that `sortBy` takes.
export const businessCases = pagedResource("business_cases", "Business cases", null, {
  record: businessCase,
  quick: { latestFirst: { sortBy: "updatedAt", sortDirection: "desc" } },
});
