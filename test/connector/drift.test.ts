import { describe, expect, it } from "vitest";
import { compareWithReference, type Drift } from "../../src/connector/drift/drift.ts";
import { library } from "../support/connector.ts";
import { get, libraryReference, put } from "../support/reference.ts";

type Bend = (document: ReturnType<typeof libraryReference>) => void;

function driftsAfter(bend: Bend): Drift[] {
  return compareWithReference(library, broken(bend));
}

const broken = (bend: Bend) => {
  const document = libraryReference();
  bend(document);
  return document;
};

const books = ["paths", "/books"];
const bookFields = ["components", "schemas", "Book", "allOf", "1", "properties"];
const input = ["components", "schemas", "BookInput"];

const remove = (...path: string[]) => set(path, undefined);
const set =
  (path: readonly string[], value: unknown): Bend =>
  (document) =>
    put(document, path, value);
const add =
  (path: readonly string[], value: unknown): Bend =>
  (document) => {
    const list = get(document, path);
    put(document, path, [...(Array.isArray(list) ? list : []), value]);
  };
const rename =
  (path: readonly string[], from: string, to: string): Bend =>
  (document) => {
    put(document, [...path, to], get(document, [...path, from]));
    put(document, [...path, from], undefined);
  };

it("a connector that agrees with its reference has no drift", () => {
  expect(driftsAfter(() => undefined)).toEqual([]);
});

it("version 3.0 expresses the same with nullable and a repeated list", () => {
  const drifts = driftsAfter((document) => {
    put(document, ["openapi"], "3.0.3");
    put(document, [...bookFields, "printedAt"], { type: "string", format: "date", nullable: true });
    put(document, [...bookFields, "author"], {
      nullable: true,
      allOf: [{ $ref: "#/components/schemas/Author" }],
    });
    put(document, [...input, "properties", "note"], { type: "string", nullable: true });
  });
  expect(drifts).toEqual([]);
});

interface Case {
  readonly change: string;
  readonly bend: Bend;
  readonly drifts: readonly string[];
}

const operationCases: readonly Case[] = [
  {
    change: "a route that is gone",
    bend: remove("paths", "/authors"),
    drifts: ["breaking GET /authors: is not in the reference"],
  },
  {
    change: "a method that is gone",
    bend: remove(...books, "post"),
    drifts: ["breaking POST /books: is not in the reference"],
  },
  {
    change: "a new route",
    bend: set(["paths", "/loans"], { get: { responses: {} } }),
    drifts: ["addition GET /loans: is new in the reference"],
  },
  {
    change: "another name for a path's parameter",
    bend: rename(["paths"], "/books/{book}/pdf", "/books/{id}/pdf"),
    drifts: ["note GET /books/{book}/pdf: is written /books/{id}/pdf in the reference"],
  },
  {
    change: "ids that are words",
    bend: set(["paths", "/books/{book}", "parameters", "0", "schema", "type"], "string"),
    drifts: [
      "breaking GET /books/{book} {book}: is string in the reference, integer in the connector",
      "breaking DELETE /books/{book} {book}: is string in the reference, integer in the connector",
    ],
  },
  {
    change: "another success status",
    bend: rename([...books, "post", "responses"], "201", "202"),
    drifts: ["breaking POST /books: answers with 202 in the reference, 201 in the connector"],
  },
  {
    change: "a second success status",
    bend: set([...books, "post", "responses", "202"], { description: "Later" }),
    drifts: ["addition POST /books: may also answer with 202 in the reference"],
  },
  {
    change: "a file of another kind",
    bend: rename(
      ["paths", "/books/{book}/pdf", "get", "responses", "200", "content"],
      "application/pdf",
      "image/png",
    ),
    drifts: ["breaking GET /books/{book}/pdf: does not answer with application/pdf in the reference"],
  },
  {
    change: "an answer where there was none",
    bend: set(["paths", "/books/{book}", "delete", "responses", "204", "content"], {
      "application/json": { schema: { type: "object" } },
    }),
    drifts: ["addition DELETE /books/{book}: answers with a body in the reference"],
  },
  {
    change: "an Idempotency-Key no longer taken",
    bend: set([...books, "post", "parameters"], []),
    drifts: ["breaking POST /books Idempotency-Key: is not taken by the reference"],
  },
  {
    change: "an Idempotency-Key newly taken",
    bend: add(["paths", "/books/{book}", "delete", "parameters"], {
      in: "header",
      name: "Idempotency-Key",
      schema: { type: "string" },
    }),
    drifts: ["addition DELETE /books/{book} Idempotency-Key: is taken by the reference"],
  },
  {
    change: "a header that must be sent",
    bend: add([...books, "get", "parameters"], {
      in: "header",
      name: "X-Tenant",
      required: true,
      schema: {},
    }),
    drifts: ["breaking GET /books X-Tenant: is a header the connector does not send"],
  },
  {
    change: "a route that is on its way out",
    bend: set([...books, "get", "deprecated"], true),
    drifts: ["note GET /books: is deprecated in the reference"],
  },
  {
    change: "a whole list that begins to come in pages",
    bend: set(
      [
        "paths",
        "/authors",
        "get",
        "responses",
        "200",
        "content",
        "application/json",
        "schema",
        "properties",
        "paginator",
      ],
      { $ref: "#/components/schemas/Paginator" },
    ),
    drifts: ["breaking GET /authors: comes in pages in the reference"],
  },
];

const queryCases: readonly Case[] = [
  {
    change: "a sort key that is gone",
    bend: set([...books, "get", "parameters", "0", "schema", "enum"], ["title"]),
    drifts: ["breaking GET /books ?sortBy: the reference lacks the value id"],
  },
  {
    change: "a sort key that is new",
    bend: add([...books, "get", "parameters", "0", "schema", "enum"], "price"),
    drifts: ["addition GET /books ?sortBy: the reference has the value price"],
  },
  {
    change: "smaller pages",
    bend: set([...books, "get", "parameters", "1", "schema", "maximum"], 50),
    drifts: [
      "breaking GET /books ?perPage: maximum is 50 in the reference, 100 in the connector",
      "breaking GET /books ?perPage: the reference allows at most 50, the mirror asks for 100",
    ],
  },
  {
    change: "larger pages",
    bend: set([...books, "get", "parameters", "1", "schema", "maximum"], 500),
    drifts: ["addition GET /books ?perPage: maximum is 500 in the reference, 100 in the connector"],
  },
  {
    change: "a parameter that is gone",
    bend: remove("components", "parameters", "Page", "name"),
    drifts: [
      "breaking GET /books ?page: is not in the reference",
      "addition GET /books ?undefined: is new in the reference",
    ],
  },
  {
    change: "a parameter that must be given",
    bend: set([...books, "get", "parameters", "0", "required"], true),
    drifts: ["breaking GET /books ?sortBy: is required in the reference"],
  },
  {
    change: "a new parameter that must be given, where there was none",
    bend: set(
      ["paths", "/authors", "get", "parameters"],
      [{ in: "query", name: "shelf", required: true, schema: { type: "integer" } }],
    ),
    drifts: ["breaking GET /authors ?shelf: is new in the reference"],
  },
];

const bodyCases: readonly Case[] = [
  {
    change: "a body's field that must be given",
    bend: add([...input, "required"], "price"),
    drifts: ["breaking POST /books body.price: is required in the reference"],
  },
  {
    change: "a body's field that may be left out",
    bend: set([...input, "required"], []),
    drifts: ["note POST /books body.title: is optional in the reference"],
  },
  {
    change: "a new field that must be given",
    bend: (document) => {
      put(document, [...input, "properties", "isbn"], { type: "string" });
      put(document, [...input, "required"], ["title", "isbn"]);
    },
    drifts: ["breaking POST /books body.isbn: is required by the reference, the connector does not know it"],
  },
  {
    change: "shorter titles",
    bend: set([...input, "properties", "title", "maxLength"], 40),
    drifts: ["breaking POST /books body.title: maxLength is 40 in the reference, 80 in the connector"],
  },
  {
    change: "a lower bound that is gone",
    bend: remove(...input, "properties", "price", "minimum"),
    drifts: ["addition POST /books body.price: minimum is not set in the reference, 0 in the connector"],
  },
  {
    change: "a null no longer taken",
    bend: set([...input, "properties", "note", "type"], "string"),
    drifts: ["breaking POST /books body.note: takes no null in the reference"],
  },
  {
    change: "a null newly taken",
    bend: set([...input, "properties", "price", "type"], ["number", "null"]),
    drifts: ["addition POST /books body.price: takes null in the reference"],
  },
  {
    change: "a body of another kind",
    bend: rename([...books, "post", "requestBody", "content"], "application/json", "multipart/form-data"),
    drifts: ["breaking POST /books body: is not application/json in the reference"],
  },
  {
    change: "a body where there was none",
    bend: set(["paths", "/books/{book}", "delete", "requestBody"], {
      required: true,
      content: { "application/json": { schema: { type: "object" } } },
    }),
    drifts: ["breaking DELETE /books/{book} body: is new in the reference"],
  },
];

const answerCases: readonly Case[] = [
  {
    change: "a field with a new name",
    bend: rename(bookFields, "price", "cost"),
    drifts: ["breaking books.price: is not in the reference", "addition books.cost: is new in the reference"],
  },
  {
    change: "a field of another type",
    bend: set([...bookFields, "price", "type"], "string"),
    drifts: ["breaking books.price: is string in the reference, number in the connector"],
  },
  {
    change: "a field without a type",
    bend: remove(...bookFields, "price", "type"),
    drifts: ["note books.price: the reference does not say its type; the connector has number"],
  },
  {
    change: "a field that may be null",
    bend: set([...bookFields, "price", "type"], ["number", "null"]),
    drifts: ["breaking books.price: may be null in the reference"],
  },
  {
    change: "a field that is never null any more",
    bend: set([...bookFields, "printedAt", "type"], "string"),
    drifts: ["note books.printedAt: is never null in the reference"],
  },
  {
    change: "a date that gets a time",
    bend: set([...bookFields, "printedAt", "format"], "date-time"),
    drifts: ["breaking books.printedAt: is a date-time in the reference, date in the connector"],
  },
  {
    change: "a text that turns out to be a date",
    bend: set(["components", "schemas", "Titled", "properties", "title", "format"], "date"),
    drifts: ["note books.title: is a date in the reference, plain text in the connector"],
  },
  {
    change: "a new value",
    bend: add([...bookFields, "genre", "enum"], "essay"),
    drifts: ["addition books.genre: the reference has the value essay"],
  },
  {
    change: "a value that is gone",
    bend: set([...bookFields, "genre", "enum"], ["novel"]),
    drifts: ["breaking books.genre: the reference lacks the value poetry"],
  },
  {
    change: "a list of values that is gone",
    bend: remove(...bookFields, "genre", "enum"),
    drifts: ["note books.genre: has no list of values in the reference"],
  },
  {
    change: "a list of values that is new",
    bend: set(["components", "schemas", "Titled", "properties", "title", "enum"], ["Emma"]),
    drifts: ["addition books.title: has only these values in the reference: Emma"],
  },
  {
    change: "a child row's field that is gone",
    bend: remove("components", "schemas", "Page", "properties", "words"),
    drifts: ["breaking books.pages[].words: is not in the reference"],
  },
  {
    change: "a field of a nested record, said once, under that record's own name",
    bend: rename(["components", "schemas", "Author", "properties"], "name", "title"),
    drifts: [
      "breaking authors.name: is not in the reference",
      "addition authors.title: is new in the reference",
    ],
  },
  {
    change: "a new event",
    bend: add(["components", "schemas", "EventName", "enum"], "books.lent"),
    drifts: ["addition events: the reference has the value books.lent"],
  },
  {
    change: "an event that is gone",
    bend: set(["components", "schemas", "EventName", "enum"], ["books.created"]),
    drifts: ["breaking events: the reference lacks the value books.deleted"],
  },
  {
    change: "a paginator's field that is gone",
    bend: remove("components", "schemas", "Paginator", "properties", "totalResults"),
    drifts: ["breaking GET /books answer.paginator.totalResults: is not in the reference"],
  },
];

describe.each([
  { part: "operations", cases: operationCases },
  { part: "queries", cases: queryCases },
  { part: "bodies", cases: bodyCases },
  { part: "answers and events", cases: answerCases },
])("a change of $part is found", ({ cases }) => {
  it.each(cases)("$change", ({ bend, drifts }) => {
    const said = driftsAfter(bend).map(({ severity, where, what }) => `${severity} ${where}: ${what}`);
    expect(said.toSorted()).toEqual([...drifts].toSorted());
  });
});

describe("a drift from our side is found as well", () => {
  it("an event that only the connector knows", () => {
    const more = { type: "books.burnt", resourceType: "book", resource: "books", action: "confirm" } as const;
    const drifts = compareWithReference(
      { ...library, events: [...library.events, more] },
      libraryReference(),
    );
    expect(drifts).toEqual([
      { severity: "breaking", where: "events", what: "the reference lacks the value books.burnt" },
    ]);
  });

  it("a plan that sorts by a key the reference does not take", () => {
    const resources = library.resources.map((one) =>
      one.name === "books" && one.list.kind === "paged"
        ? { ...one, list: { ...one.list, params: { sortBy: "weight" } } }
        : one,
    );
    expect(compareWithReference({ ...library, resources }, libraryReference())).toEqual([
      { severity: "breaking", where: "GET /books ?sortBy", what: "the reference lacks the value weight" },
    ]);
  });
});

it("the worst is reported first", () => {
  const drifts = driftsAfter((document) => {
    put(document, [...books, "get", "deprecated"], true);
    put(document, ["paths", "/loans"], { get: { responses: {} } });
    put(document, [...bookFields, "price"], undefined);
  });
  expect(drifts.map(({ severity }) => severity)).toEqual(["breaking", "addition", "note"]);
});

describe("anything but a reference is refused with a helpful message", () => {
  it.each([
    ["nothing", null, "has no paths"],
    ["a list", [], "has no paths"],
    ["a text", "openapi: 3.1.0", "has no paths"],
    ["another document", { name: "package" }, "has no paths"],
    ["Swagger 2", { swagger: "2.0", paths: {} }, "does not say openapi: 3.x"],
    [
      "a pointer to nowhere",
      broken(remove("components", "schemas", "Author")),
      "#/components/schemas/Author",
    ],
    [
      "a pointer into another file",
      broken(set([...bookFields, "author"], { $ref: "author.yaml#/Author" })),
      "another file (author.yaml#/Author)",
    ],
    [
      "pointers in a circle",
      broken(set(["components", "schemas", "Author"], { $ref: "#/components/schemas/Author" })),
      "circle",
    ],
  ])("%s", (_, document, words) => {
    expect(() => compareWithReference(library, document)).toThrow(
      expect.objectContaining({ kind: "usage", message: expect.stringContaining(words) }),
    );
  });

  it("odd parts of a document are ignored", () => {
    const drifts = driftsAfter((document) => {
      put(document, [...books, "summary"], 7);
      put(document, ["paths", "/odd"], null);
      put(document, ["paths", "/odder"], { get: "no object", parameters: "no list" });
    });
    expect(drifts).toEqual([]);
  });

  it("a schema that contains itself ends", () => {
    const drifts = driftsAfter((document) => {
      put(document, ["components", "schemas", "Titled", "allOf"], [{ $ref: "#/components/schemas/Book" }]);
    });
    expect(drifts).toEqual([]);
  });
});
