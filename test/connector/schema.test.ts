import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineResource } from "../../src/connector/resource.ts";
import { resourceNamed } from "../../src/connector/connector-manifest.ts";
import {
  boolean,
  children,
  date,
  decimal,
  doc,
  factOf,
  fieldsOf,
  idOf,
  integer,
  json,
  nested,
  oneOf,
  originalOf,
  orNull,
  owned,
  record,
  snapshot,
  stated,
  text,
  timestamp,
} from "../../src/connector/record-schema.ts";
import { library } from "../support/connector/connector.ts";

const country = record({ id: integer(), name: text() });

describe("a field's facts", () => {
  it("define the kind of column", () => {
    const fields = fieldsOf(
      record({
        id: integer(),
        total: decimal(),
        name: text(),
        paid: boolean(),
        issueDate: date(),
        createdAt: timestamp(),
        tags: json(z.array(z.string())),
        clientId: idOf("clients"),
      }),
    );
    const types = Object.entries(fields).map(([name, field]) => [name, "type" in field ? field.type : null]);
    expect(types).toEqual([
      ["id", "integer"],
      ["total", "decimal"],
      ["name", "text"],
      ["paid", "boolean"],
      ["issueDate", "date"],
      ["createdAt", "timestamp"],
      ["tags", "json"],
      ["clientId", "integer"],
    ]);
    expect(fields["clientId"]).toMatchObject({ references: "clients" });
  });

  it("are published and never null unless said otherwise", () => {
    expect(factOf(text())).toMatchObject({ origin: "published", nullable: false });
  });

  it("keep everything that was declared, in any order", () => {
    const expected = { origin: "stated", nullable: true, doc: "Why", type: "text" };
    expect(factOf(stated(doc("Why", orNull(text()))))).toMatchObject(expected);
    expect(factOf(orNull(doc("Why", stated(text()))))).toMatchObject(expected);
  });

  it("of a record used in two places are separate", () => {
    const home = doc("Where it lives", stated(nested("countries", country)));
    const away = nested("countries", country);
    expect(factOf(home)).toMatchObject({ origin: "stated", doc: "Where it lives" });
    expect(factOf(away)).toEqual({
      shape: "lookup",
      resource: "countries",
      origin: "published",
      nullable: false,
    });
    expect(originalOf(home)).toBe(country);
    expect(originalOf(nested("countries", home))).toBe(country);
  });

  it("of nested shapes hold the fields within", () => {
    const line = record({ id: integer() });
    const fields = fieldsOf(
      record({
        client: orNull(snapshot(record({ name: text(), country: nested("countries", country) }))),
        items: children("lines", line),
        payments: owned("payments", line),
      }),
    );
    expect(fields["client"]).toMatchObject({
      shape: "snapshot",
      nullable: true,
      fields: { name: { shape: "scalar" }, country: { shape: "lookup", resource: "countries" } },
    });
    expect(fields["items"]).toMatchObject({
      shape: "children",
      table: "lines",
      fields: { id: { type: "integer" } },
    });
    expect(fields["payments"]).toMatchObject({ shape: "owned", resource: "payments" });
  });

  it("are missing for a type made elsewhere, which throws", () => {
    expect(() => fieldsOf(record({ name: z.string() }))).toThrow("made by connector/record-schema");
  });

  it("cannot be changed by readers", () => {
    expect(Object.isFrozen(fieldsOf(country))).toBe(true);
  });
});

describe("a type accepts unknown fields and values (I12)", () => {
  const type = record({ id: integer(), status: oneOf(["paid", "unpaid"]), note: orNull(text()) });

  it.each([
    ["what is known", { id: 1, status: "paid", note: "x" }],
    ["an unknown value", { id: 1, status: "frozen", note: null }],
    ["a nullable field left out", { id: 1, status: "paid" }],
    ["an unknown field, kept", { id: 1, status: "paid", note: null, novelty: [1] }],
  ])("%s", (_, value) => {
    expect(type.parse(value)).toEqual(value);
  });

  it("and still distinguishes text from numbers", () => {
    expect(type.safeParse({ id: "1", status: "paid" }).success).toBe(false);
  });

  it("lists the values known today", () => {
    expect(factOf(type.shape.status)).toMatchObject({ values: ["paid", "unpaid"] });
  });
});

describe("a resource", () => {
  const written = {
    name: "things",
    singular: "thing",
    title: "Things",
    origin: "published",
    record: record({ id: integer(), name: text() }),
    list: { kind: "whole", path: "/things" },
  } as const;

  it("gives full records unless it has a preview", () => {
    expect(defineResource(written)).toMatchObject({ gives: "full", fields: { id: {}, name: {} } });
    const preview = record({ id: integer() });
    expect(defineResource({ ...written, preview })).toMatchObject({
      gives: "preview",
      previewFields: { id: {} },
    });
  });

  it("is found by its name, and a wrong name throws", () => {
    expect(resourceNamed(library, "books").singular).toBe("book");
    expect(() => resourceNamed(library, "films")).toThrow("films is a resource of library");
  });
});
