import { defineResource } from "../../../src/connector/define.ts";
import {
  doc,
  integer,
  nested,
  oneOf,
  orNull,
  record,
  stated,
  text,
  timestamp,
} from "../../../src/connector/record-schema.ts";
import { client } from "./clients.ts";
import { supplier } from "./suppliers.ts";

/** The pipeline's columns, and the cases that stand in them. */
export const businessCaseStatus = record({
  id: stated(integer()),
  name: stated(text()),
  color: stated(doc("Hex colour", text())),
});

export const businessCase = record({
  id: integer(),
  contactType: doc("Which of client and supplier it is about", oneOf(["client", "supplier"])),
  contactId: doc("Id of that client or supplier", integer()),
  client: orNull(nested("clients", client)),
  supplier: orNull(nested("suppliers", supplier)),
  name: text(),
  description: orNull(text()),
  status: stated(
    doc("Null when its status was deleted", orNull(nested("business_case_statuses", businessCaseStatus))),
  ),
  boardPosition: doc("Place within its column", integer()),
  createdAt: orNull(timestamp()),
  updatedAt: orNull(timestamp()),
});

export const businessCaseStatuses = defineResource({
  name: "business_case_statuses",
  singular: "business_case_status",
  title: "Business case statuses",
  origin: "stated",
  record: businessCaseStatus,
  list: { kind: "whole", path: "/business-case-statuses" },
  detail: "/business-case-statuses/{id}",
  doc: "Columns of the sales pipeline",
});

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
