import { describe, expect, it } from "vitest";
import { compareWithReference, type Drift } from "../../src/connector/drift/drift.ts";
import { library } from "../support/connector/connector.ts";
import { get, libraryReference, put } from "../support/connector/reference.ts";

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
    drifts: ["breaking GET /authors: it is absent in the reference, present in the connector"],
  },
  {
    change: "a method that is gone",
    bend: remove(...books, "post"),
    drifts: ["breaking POST /books: it is absent in the reference, present in the connector"],
  },
  {
    change: "a new route",
    bend: set(["paths", "/loans"], { get: { responses: {} } }),
    drifts: ["addition GET /loans: it is present in the reference, absent in the connector"],
  },
  {
    change: "another name for a path's parameter",
    bend: rename(["paths"], "/books/{book}/pdf", "/books/{id}/pdf"),
    drifts: [
      "note GET /books/{book}/pdf: path is /books/{id}/pdf in the reference, /books/{book}/pdf in the connector",
    ],
  },
  {
    change: "ids that are words",
    bend: set(["paths", "/books/{book}", "parameters", "0", "schema", "type"], "string"),
    drifts: [
      "breaking GET /books/{book} {book}: type is string in the reference, integer in the connector",
      "breaking DELETE /books/{book} {book}: type is string in the reference, integer in the connector",
    ],
  },
  {
    change: "another success status",
    bend: rename([...books, "post", "responses"], "201", "202"),
    drifts: [
      "breaking POST /books answer 201: it is absent in the reference, present in the connector",
      "addition POST /books answer 202: it is present in the reference, absent in the connector",
    ],
  },
  {
    change: "a second success status",
    bend: set([...books, "post", "responses", "202"], { description: "Later" }),
    drifts: ["addition POST /books answer 202: it is present in the reference, absent in the connector"],
  },
  {
    change: "a file of another kind",
    bend: rename(
      ["paths", "/books/{book}/pdf", "get", "responses", "200", "content"],
      "application/pdf",
      "image/png",
    ),
    drifts: [
      "breaking GET /books/{book}/pdf answer 200: content is image/png in the reference, application/pdf in the connector",
    ],
  },
  {
    change: "an answer where there was none",
    bend: set(["paths", "/books/{book}", "delete", "responses", "204", "content"], {
      "application/json": { schema: { type: "object" } },
    }),
    drifts: [
      "addition DELETE /books/{book} answer 204: content is application/json in the reference, absent in the connector",
    ],
  },
  {
    change: "an Idempotency-Key no longer taken",
    bend: set([...books, "post", "parameters"], []),
    drifts: ["breaking POST /books Idempotency-Key: it is absent in the reference, present in the connector"],
  },
  {
    change: "an Idempotency-Key newly taken",
    bend: add(["paths", "/books/{book}", "delete", "parameters"], {
      in: "header",
      name: "Idempotency-Key",
      schema: { type: "string" },
    }),
    drifts: [
      "addition DELETE /books/{book} Idempotency-Key: it is optional in the reference, absent in the connector",
    ],
  },
  {
    change: "a header that must be sent",
    bend: add([...books, "get", "parameters"], {
      in: "header",
      name: "X-Tenant",
      required: true,
      schema: {},
    }),
    drifts: ["breaking GET /books X-Tenant: it is required in the reference, absent in the connector"],
  },
  {
    change: "a route that is on its way out",
    bend: set([...books, "get", "deprecated"], true),
    drifts: ["note GET /books: deprecated is true in the reference, absent in the connector"],
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
    drifts: [
      "breaking GET /authors answer 200.paginator: it is present in the reference, unexpected in the connector",
    ],
  },
];

const queryCases: readonly Case[] = [
  {
    change: "a sort key that is gone",
    bend: set([...books, "get", "parameters", "0", "schema", "enum"], ["title"]),
    drifts: ["breaking GET /books ?sortBy: value id is absent in the reference, present in the connector"],
  },
  {
    change: "a sort key that is new",
    bend: add([...books, "get", "parameters", "0", "schema", "enum"], "price"),
    drifts: ["addition GET /books ?sortBy: value price is present in the reference, absent in the connector"],
  },
  {
    change: "smaller pages",
    bend: set([...books, "get", "parameters", "1", "schema", "maximum"], 50),
    drifts: ["breaking GET /books ?perPage: maximum is 50 in the reference, 100 in the connector"],
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
      "breaking GET /books ?page: it is absent in the reference, optional in the connector",
      "addition GET /books ?undefined: it is optional in the reference, absent in the connector",
    ],
  },
  {
    change: "a parameter that must be given",
    bend: set([...books, "get", "parameters", "0", "required"], true),
    drifts: ["breaking GET /books ?sortBy: it is required in the reference, optional in the connector"],
  },
  {
    change: "a new parameter that must be given, where there was none",
    bend: set(
      ["paths", "/authors", "get", "parameters"],
      [{ in: "query", name: "shelf", required: true, schema: { type: "integer" } }],
    ),
    drifts: ["breaking GET /authors ?shelf: it is required in the reference, absent in the connector"],
  },
];

const bodyCases: readonly Case[] = [
  {
    change: "a body's field that must be given",
    bend: add([...input, "required"], "price"),
    drifts: ["breaking POST /books body.price: it is required in the reference, optional in the connector"],
  },
  {
    change: "a body's field that may be left out",
    bend: set([...input, "required"], []),
    drifts: ["note POST /books body.title: it is optional in the reference, required in the connector"],
  },
  {
    change: "a new field that must be given",
    bend: (document) => {
      put(document, [...input, "properties", "isbn"], { type: "string" });
      put(document, [...input, "required"], ["title", "isbn"]);
    },
    drifts: ["breaking POST /books body.isbn: it is required in the reference, absent in the connector"],
  },
  {
    change: "shorter titles",
    bend: set([...input, "properties", "title", "maxLength"], 40),
    drifts: ["breaking POST /books body.title: maxLength is 40 in the reference, 80 in the connector"],
  },
  {
    change: "a lower bound that is gone",
    bend: remove(...input, "properties", "price", "minimum"),
    drifts: ["addition POST /books body.price: minimum is absent in the reference, 0 in the connector"],
  },
  {
    change: "a null no longer taken",
    bend: set([...input, "properties", "note", "type"], "string"),
    drifts: ["breaking POST /books body.note: null is absent in the reference, allowed in the connector"],
  },
  {
    change: "a null newly taken",
    bend: set([...input, "properties", "price", "type"], ["number", "null"]),
    drifts: ["addition POST /books body.price: null is allowed in the reference, absent in the connector"],
  },
  {
    change: "a body of another kind",
    bend: rename([...books, "post", "requestBody", "content"], "application/json", "multipart/form-data"),
    drifts: [
      "breaking POST /books body: content is multipart/form-data in the reference, application/json in the connector",
    ],
  },
  {
    change: "a body where there was none",
    bend: set(["paths", "/books/{book}", "delete", "requestBody"], {
      required: true,
      content: { "application/json": { schema: { type: "object" } } },
    }),
    drifts: ["breaking DELETE /books/{book} body: it is required in the reference, absent in the connector"],
  },
];

const answerCases: readonly Case[] = [
  {
    change: "a field with a new name",
    bend: rename(bookFields, "price", "cost"),
    drifts: [
      "breaking books.price: it is absent in the reference, present in the connector",
      "addition books.cost: it is present in the reference, absent in the connector",
    ],
  },
  {
    change: "a field of another type",
    bend: set([...bookFields, "price", "type"], "string"),
    drifts: ["breaking books.price: type is string in the reference, number in the connector"],
  },
  {
    change: "a field without a type",
    bend: remove(...bookFields, "price", "type"),
    drifts: ["note books.price: type is absent in the reference, number in the connector"],
  },
  {
    change: "a field that may be null",
    bend: set([...bookFields, "price", "type"], ["number", "null"]),
    drifts: ["breaking books.price: null is allowed in the reference, absent in the connector"],
  },
  {
    change: "a field that is never null any more",
    bend: set([...bookFields, "printedAt", "type"], "string"),
    drifts: ["note books.printedAt: null is absent in the reference, allowed in the connector"],
  },
  {
    change: "a date that gets a time",
    bend: set([...bookFields, "printedAt", "format"], "date-time"),
    drifts: ["breaking books.printedAt: format is date-time in the reference, date in the connector"],
  },
  {
    change: "a text that turns out to be a date",
    bend: set(["components", "schemas", "Titled", "properties", "title", "format"], "date"),
    drifts: ["note books.title: format is date in the reference, absent in the connector"],
  },
  {
    change: "a new value",
    bend: add([...bookFields, "genre", "enum"], "essay"),
    drifts: ["addition books.genre: value essay is present in the reference, absent in the connector"],
  },
  {
    change: "a value that is gone",
    bend: set([...bookFields, "genre", "enum"], ["novel"]),
    drifts: ["breaking books.genre: value poetry is absent in the reference, present in the connector"],
  },
  {
    change: "a list of values that is gone",
    bend: remove(...bookFields, "genre", "enum"),
    drifts: ["note books.genre: list of values is absent in the reference, novel, poetry in the connector"],
  },
  {
    change: "a list of values that is new",
    bend: set(["components", "schemas", "Titled", "properties", "title", "enum"], ["Emma"]),
    drifts: ["addition books.title: list of values is Emma in the reference, absent in the connector"],
  },
  {
    change: "a child row's field that is gone",
    bend: remove("components", "schemas", "Page", "properties", "words"),
    drifts: ["breaking books.pages[].words: it is absent in the reference, present in the connector"],
  },
  {
    change: "a field of a nested record, said once, under that record's own name",
    bend: rename(["components", "schemas", "Author", "properties"], "name", "title"),
    drifts: [
      "breaking authors.name: it is absent in the reference, present in the connector",
      "addition authors.title: it is present in the reference, absent in the connector",
    ],
  },
  {
    change: "a new event",
    bend: add(["components", "schemas", "EventName", "enum"], "books.lent"),
    drifts: ["addition events: value books.lent is present in the reference, absent in the connector"],
  },
  {
    change: "an event that is gone",
    bend: set(["components", "schemas", "EventName", "enum"], ["books.created"]),
    drifts: ["breaking events: value books.deleted is absent in the reference, present in the connector"],
  },
  {
    change: "a paginator's field that is gone",
    bend: remove("components", "schemas", "Paginator", "properties", "totalResults"),
    drifts: [
      "breaking GET /books answer 200.paginator.totalResults: it is absent in the reference, present in the connector",
    ],
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
      {
        severity: "breaking",
        where: "events",
        what: "value books.burnt is absent in the reference, present in the connector",
      },
    ]);
  });

  it("a plan that sorts by a key the reference does not take", () => {
    const resources = library.resources.map((one) =>
      one.name === "books" && one.list.kind === "paged"
        ? { ...one, list: { ...one.list, params: { sortBy: "weight" } } }
        : one,
    );
    expect(compareWithReference({ ...library, resources }, libraryReference())).toEqual([
      {
        severity: "breaking",
        where: "GET /books ?sortBy",
        what: "value weight is absent in the reference, present in the connector",
      },
    ]);
  });

  it("a plan that asks for larger pages than the reference allows", () => {
    const resources = library.resources.map((one) =>
      one.name === "books" && one.list.kind === "paged"
        ? { ...one, list: { ...one.list, perPage: 200 } }
        : one,
    );
    expect(compareWithReference({ ...library, resources }, libraryReference())).toEqual([
      {
        severity: "breaking",
        where: "GET /books ?perPage",
        what: "maximum is 100 in the reference, 200 in the connector",
      },
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
