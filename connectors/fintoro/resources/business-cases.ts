import * as t from "../../../src/connector/record-schema.ts";
import { defineResource } from "../../../src/connector/resource.ts";
import { client } from "./clients.ts";
import { supplier } from "./suppliers.ts";
import { wholeResource } from "./resource-builders.ts";

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

export const businessCaseStatuses = wholeResource(
  "business_case_statuses",
  "business_case_status",
  "Business case statuses",
  {
    origin: "stated",
    record: businessCaseStatus,
    detail: "/business-case-statuses/{id}",
    doc: "Columns of the sales pipeline",
  },
);

export const businessCases = defineResource({
  name: "business_cases",
  singular: "business_case",
  title: "Business cases",
  origin: "published",
  record: businessCase,
  list: {
    kind: "paged",
    path: "/business-cases",
    perPage: 200,
    params: { sortBy: "createdAt", sortDirection: "asc" },
  },
  detail: "/business-cases/{id}",
});
