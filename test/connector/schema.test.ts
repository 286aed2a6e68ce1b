import { describe, expect, it } from "vitest";
import { z } from "zod";
import { resourceNamed } from "../../src/connector/connector-declaration.ts";
import * as t from "../../src/connector/record-schema.ts";
import { library } from "../support/connector/connector.ts";

const country = t.record({ id: t.integer(), name: t.text() });

describe("a field's facts", () => {
  it("keep everything that was declared, in any order", () => {
    const expected = { origin: "stated", nullable: true, doc: "Why", type: "text" };
    expect(t.factOf(t.stated(t.doc("Why", t.orNull(t.text()))))).toMatchObject(expected);
    expect(t.factOf(t.orNull(t.doc("Why", t.stated(t.text()))))).toMatchObject(expected);
  });

  it("of a record used in two places are separate", () => {
    const home = t.doc("Where it lives", t.stated(t.nested("countries", country)));
    const away = t.nested("countries", country);
    expect(t.factOf(home)).toMatchObject({ origin: "stated", doc: "Where it lives" });
    const published = { shape: "lookup", resource: "countries", origin: "published", nullable: false };
    expect(t.factOf(away)).toEqual(published);
    expect(t.originalOf(home)).toBe(country);
    expect(t.originalOf(t.nested("countries", home))).toBe(country);
  });

  it("are missing for a type made elsewhere, which throws", () => {
    expect(() => t.fieldsOf(t.record({ name: z.string() }))).toThrow("made by connector/record-schema");
  });

  it("cannot be changed by readers", () => {
    expect(Object.isFrozen(t.fieldsOf(country))).toBe(true);
  });
});

describe("a type accepts unknown fields and values (I12)", () => {
  const type = t.record({ id: t.integer(), status: t.oneOf(["paid", "unpaid"]), note: t.orNull(t.text()) });

  it.each([
    ["what is known", { id: 1, status: "paid", note: "x" }],
    ["an unknown value", { id: 1, status: "frozen", note: null }],
    ["a nullable field left out", { id: 1, status: "paid" }],
    ["an unknown field, kept", { id: 1, status: "paid", note: null, novelty: [1] }],
  ])("%s", (_, value) => {
    expect(type.parse(value)).toEqual(value);
  });

  it("and still distinguishes text from numbers", () => {
    expect(() => type.parse({ id: "1", status: "paid" })).toThrow("id");
  });

  it("lists the values known today", () => {
    expect(t.factOf(type.shape.status)).toMatchObject({ values: ["paid", "unpaid"] });
  });
});

it("a resource is found by its name, and a wrong name throws", () => {
  expect(resourceNamed(library, "books").singular).toBe("book");
  expect(() => resourceNamed(library, "films")).toThrow("films is a resource of library");
});
