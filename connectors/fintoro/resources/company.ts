import { defineResource } from "../../../src/connector/define.ts";
import { doc, record, text } from "../../../src/connector/record-schema.ts";

/** All that `/whoami` tells. */
export const identity = record({
  name: doc("Name of the company that the token belongs to", text()),
});

export const company = defineResource({
  name: "company",
  singular: "company",
  title: "Company",
  origin: "stated",
  record: identity,
  list: { kind: "single", path: "/whoami" },
  doc: "The company this mirror belongs to; one row",
});
