import * as t from "../../../src/connector/record-schema.ts";
import { defineResource } from "../../../src/connector/resource.ts";

/** The answer of `/whoami`. */
export const identity = t.record({
  name: t.doc("Name of the company that the token belongs to", t.text()),
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
