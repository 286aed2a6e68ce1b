import { existsSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { describe, expect, it } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import { compareWithReference, type Drift } from "../../src/connector/drift/drift.ts";
import { library } from "../support/connector/connector.ts";

const reference = `
openapi: 3.1.0
paths:
  /books:
    get:
      parameters:
        - { in: query, name: sortBy, required: false, schema: { type: string, enum: [id, title] } }
        - { in: query, name: perPage, required: false, schema: { type: integer, minimum: 1, maximum: 100 } }
        - $ref: "#/components/parameters/Page"
      responses:
        200: { content: { application/json: { schema: { type: object, properties: {
          data: { type: array, items: { $ref: "#/components/schemas/Book" } },
          paginator: { $ref: "#/components/schemas/Paginator" } } } } } }
        404: { description: Gone }
    post:
      parameters: [{ in: header, name: Idempotency-Key, schema: { type: string } }]
      requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/BookInput" } } } }
      responses: { 201: { content: { application/json: { schema: { $ref: "#/components/schemas/Book" } } } } }
  /books/{book}:
    parameters: [{ in: path, name: book, required: true, schema: { type: integer } }]
    get: { responses: { 200: { content: { application/json: { schema: { $ref: "#/components/schemas/Book" } } } } } }
    delete: { responses: { 204: { description: Success } } }
  /books/{book}/pdf:
    parameters: [{ in: path, name: book, required: true, schema: { type: integer } }]
    get: { responses: { 200: { content: { application/pdf: { schema: { type: string } } } } } }
  /authors:
    get: { responses: { 200: { content: { application/json: { schema: { type: object, properties: {
      data: { type: array, items: { $ref: "#/components/schemas/Author" } } } } } } } } }
  /watches:
    get: { responses: { 200: { content: { application/json: { schema: { type: object, properties: {
      data: { type: array, items: { $ref: "#/components/schemas/Watch" } } } } } } } } }
components:
  parameters:
    Page: { in: query, name: page, required: false, schema: { type: integer, minimum: 1 } }
  schemas:
    Author: { type: object, properties: { id: { type: integer }, name: { type: string } } }
    Titled: { type: object, properties: { id: { type: integer }, title: { type: string } } }
    Book:
      allOf:
        - $ref: "#/components/schemas/Titled"
        - type: object
          properties:
            genre: { type: string, enum: [novel, poetry] }
            price: { type: number, format: float }
            printedAt: { type: [string, "null"], format: date }
            author: { anyOf: [{ $ref: "#/components/schemas/Author" }, { type: "null" }] }
            pages: { type: array, items: { $ref: "#/components/schemas/Page" } }
    Page: { type: object, properties: { number: { type: integer }, words: { type: number } } }
    BookInput:
      type: object
      required: [title]
      anyOf: [{ required: [price] }, { required: [note] }]
      properties:
        title: { type: string, minLength: 1, maxLength: 80 }
        genre: { type: string, enum: [novel, poetry] }
        price: { type: number, minimum: 0 }
        note: { type: [string, "null"] }
    Watch:
      type: object
      properties: { id: { type: integer }, events: { type: array, items: { $ref: "#/components/schemas/EventName" } } }
    EventName: { type: string, enum: [books.created, books.deleted] }
    Paginator:
      type: object
      properties:
        currentPage: { type: integer }
        perPage: { type: integer }
        totalPages: { type: integer }
        totalResults: { type: integer }
        currentFrom: { type: integer }
        currentTo: { type: integer }
        firstPageUrl: { type: string }
        lastPageUrl: { type: string }
        nextPageUrl: { type: [string, "null"] }
        previousPageUrl: { type: [string, "null"] }
        links: { type: array, items: { type: object, properties: {
          url: { type: [string, "null"] }, label: { type: string }, active: { type: boolean } } } }
`;

/** The library's reference, in the ways that version 3.1 says things. */
function libraryReference(): object {
  return parse(reference) as object;
}

/** Sets what stands at a path of keys; `undefined` removes it. */
function put(document: object, path: readonly string[], value: unknown): void {
  const parents = path.slice(0, -1);
  const parent = parents.reduce((at: unknown, key) => Reflect.get(Object(at), key), document);
  const last = path.at(-1) ?? "";
  if (typeof parent !== "object" || parent === null) throw new Error(`nothing at ${parents.join("/")}`);
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else Reflect.set(parent, last, value);
}

function get(document: object, path: readonly string[]): unknown {
  return path.reduce((at: unknown, key) => Reflect.get(Object(at), key), document);
}

/** A drift in words, as `said` gives them. */
const inWords =
  (severity: Drift["severity"]) =>
  (where: string, fact: string, published: string, ours: string): string =>
    `${severity} ${where}: ${fact} is ${published} in the reference, ${ours} in the connector`;
const breaking = inWords("breaking");
const addition = inWords("addition");
const note = inWords("note");
const gone = (where: string): string => breaking(where, "it", "absent", "present");
const added = (where: string): string => addition(where, "it", "present", "absent");

function said(drifts: readonly Drift[]): string[] {
  return drifts.map(({ severity, where, what }) => `${severity} ${where}: ${what}`);
}

type Bend = (document: object) => void;

function driftsAfter(bend: Bend): Drift[] {
  return compareWithReference(library, broken(bend));
}

const broken = (bend: Bend) => {
  const document = libraryReference();
  bend(document);
  return document;
};

const books = ["paths", "/books"];
const oneBook = ["paths", "/books/{book}"];
const schemas = ["components", "schemas"];
const input = [...schemas, "BookInput"];
const field = (...path: string[]) => [...schemas, "Book", "allOf", "1", "properties", ...path];
const elsewhere = { $ref: "author.yaml#/Author" };
const toAuthor = { $ref: "#/components/schemas/Author" };
const answerOf = (path: string) => ["paths", path, "get", "responses", "200", "content"];

const remove = (path: readonly string[]) => set(path, undefined);
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
    put(document, field("printedAt"), { type: "string", format: "date", nullable: true });
    put(document, field("author"), { nullable: true, allOf: [toAuthor] });
    put(document, [...input, "properties", "note"], { type: "string", nullable: true });
  });
  expect(drifts).toEqual([]);
});

/** A change of the reference, and all that is said of it. */
type Case = readonly [bend: Bend, ...drifts: string[]];

const tenant = { in: "header", name: "X-Tenant", required: true, schema: {} };
const idempotencyKey = { in: "header", name: "Idempotency-Key", schema: { type: "string" } };
const paginator = { $ref: "#/components/schemas/Paginator" };
const anyObject = { "application/json": { schema: { type: "object" } } };

const operationCases: readonly Case[] = [
  [remove(["paths", "/authors"]), gone("GET /authors")],
  [set(["paths", "/loans"], { get: { responses: {} } }), added("GET /loans")],
  [
    rename(["paths"], "/books/{book}/pdf", "/books/{id}/pdf"),
    note("GET /books/{book}/pdf", "path", "/books/{id}/pdf", "/books/{book}/pdf"),
  ],
  [
    set([...oneBook, "parameters", "0", "schema", "type"], "string"),
    breaking("GET /books/{book} {book}", "type", "string", "integer"),
    breaking("DELETE /books/{book} {book}", "type", "string", "integer"),
  ],
  [
    rename([...books, "post", "responses"], "201", "202"),
    gone("POST /books answer 201"),
    added("POST /books answer 202"),
  ],
  [
    rename(answerOf("/books/{book}/pdf"), "application/pdf", "image/png"),
    breaking("GET /books/{book}/pdf answer 200", "content", "image/png", "application/pdf"),
  ],
  [
    set([...oneBook, "delete", "responses", "204", "content"], anyObject),
    addition("DELETE /books/{book} answer 204", "content", "application/json", "absent"),
  ],
  [set([...books, "post", "parameters"], []), gone("POST /books Idempotency-Key")],
  [
    add([...oneBook, "delete", "parameters"], idempotencyKey),
    addition("DELETE /books/{book} Idempotency-Key", "it", "optional", "absent"),
  ],
  [add([...books, "get", "parameters"], tenant), breaking("GET /books X-Tenant", "it", "required", "absent")],
  [set([...books, "get", "deprecated"], true), note("GET /books", "deprecated", "true", "absent")],
  [
    set([...answerOf("/authors"), "application/json", "schema", "properties", "paginator"], paginator),
    breaking("GET /authors answer 200.paginator", "it", "present", "unexpected"),
  ],
];

const sortBy = [...books, "get", "parameters", "0"];
const perPage = [...books, "get", "parameters", "1"];

const queryCases: readonly Case[] = [
  [set([...perPage, "schema", "maximum"], 50), breaking("GET /books ?perPage", "maximum", "50", "100")],
  [
    remove(["components", "parameters", "Page", "name"]),
    breaking("GET /books ?page", "it", "absent", "optional"),
    addition("GET /books ?undefined", "it", "optional", "absent"),
  ],
  [set([...sortBy, "required"], true), breaking("GET /books ?sortBy", "it", "required", "optional")],
];

const inputField = (...path: string[]) => [...input, "properties", ...path];

const bodyCases: readonly Case[] = [
  [add([...input, "required"], "price"), breaking("POST /books body.price", "it", "required", "optional")],
  [set([...input, "required"], []), note("POST /books body.title", "it", "optional", "required")],
  [
    (document) => {
      put(document, inputField("isbn"), { type: "string" });
      put(document, [...input, "required"], ["title", "isbn"]);
    },
    breaking("POST /books body.isbn", "it", "required", "absent"),
  ],
  [set(inputField("title", "maxLength"), 40), breaking("POST /books body.title", "maxLength", "40", "80")],
  [remove(inputField("price", "minimum")), addition("POST /books body.price", "minimum", "absent", "0")],
  [set(inputField("note", "type"), "string"), breaking("POST /books body.note", "null", "absent", "allowed")],
  [
    set(inputField("price", "type"), ["number", "null"]),
    addition("POST /books body.price", "null", "allowed", "absent"),
  ],
  [
    rename([...books, "post", "requestBody", "content"], "application/json", "multipart/form-data"),
    breaking("POST /books body", "content", "multipart/form-data", "application/json"),
  ],
  [
    set([...oneBook, "delete", "requestBody"], { required: true, content: anyObject }),
    breaking("DELETE /books/{book} body", "it", "required", "absent"),
  ],
];

const title = [...schemas, "Titled", "properties", "title"];
const eventNames = [...schemas, "EventName", "enum"];

const answerCases: readonly Case[] = [
  [rename(field(), "price", "cost"), gone("books.price"), added("books.cost")],
  [set(field("price", "type"), "string"), breaking("books.price", "type", "string", "number")],
  [remove(field("price", "type")), note("books.price", "type", "absent", "number")],
  [set(field("price", "type"), ["number", "null"]), breaking("books.price", "null", "allowed", "absent")],
  [set(field("printedAt", "type"), "string"), note("books.printedAt", "null", "absent", "allowed")],
  [
    set(field("printedAt", "format"), "date-time"),
    breaking("books.printedAt", "format", "date-time", "date"),
  ],
  [set([...title, "format"], "date"), note("books.title", "format", "date", "absent")],
  [add(field("genre", "enum"), "essay"), addition("books.genre", "value essay", "present", "absent")],
  [set(field("genre", "enum"), ["novel"]), breaking("books.genre", "value poetry", "absent", "present")],
  [remove(field("genre", "enum")), note("books.genre", "list of values", "absent", "novel, poetry")],
  [set([...title, "enum"], ["Emma"]), addition("books.title", "list of values", "Emma", "absent")],
  [remove([...schemas, "Page", "properties", "words"]), gone("books.pages[].words")],
  // Of a nested record, said once, under that record's own name.
  [
    rename([...schemas, "Author", "properties"], "name", "title"),
    gone("authors.name"),
    added("authors.title"),
  ],
  [add(eventNames, "books.lent"), addition("events", "value books.lent", "present", "absent")],
  [set(eventNames, ["books.created"]), breaking("events", "value books.deleted", "absent", "present")],
  [
    remove([...schemas, "Paginator", "properties", "totalResults"]),
    gone("GET /books answer 200.paginator.totalResults"),
  ],
];

describe.each([
  ["operations", operationCases],
  ["queries", queryCases],
  ["bodies", bodyCases],
  ["answers and events", answerCases],
] as const)("each change of %s is found, and nothing else", (_part, cases) => {
  const rows = cases.map(([bend, ...drifts]) => [drifts.join("; "), bend, drifts] as const);
  it.each(rows)("%s", (_drifts, bend, drifts) => {
    expect(said(driftsAfter(bend)).toSorted()).toEqual(drifts.toSorted());
  });
});

/** The library, with its list of books asked for otherwise. */
function asking(more: object) {
  const resources = library.resources.map((one) =>
    one.name === "books" ? { ...one, list: { ...one.list, ...more } } : one,
  );
  return { ...library, resources };
}

const burnt = { type: "books.burnt", resourceType: "book", resource: "books", action: "confirm" } as const;

it.each([
  [
    "an event that only the connector knows",
    { ...library, events: [...library.events, burnt] },
    breaking("events", "value books.burnt", "absent", "present"),
  ],
  [
    "a plan that sorts by a key the reference does not take",
    asking({ params: { sortBy: "weight" } }),
    breaking("GET /books ?sortBy", "value weight", "absent", "present"),
  ],
  [
    "a plan that asks for larger pages than the reference allows",
    asking({ perPage: 200 }),
    breaking("GET /books ?perPage", "maximum", "100", "200"),
  ],
])("a drift from our side is found as well: %s", (_name, connector, drift) => {
  expect(said(compareWithReference(connector, libraryReference()))).toEqual([drift]);
});

it("the worst is reported first", () => {
  const drifts = driftsAfter((document) => {
    put(document, [...books, "get", "deprecated"], true);
    put(document, ["paths", "/loans"], { get: { responses: {} } });
    put(document, field("price"), undefined);
  });
  expect(drifts.map(({ severity }) => severity)).toEqual(["breaking", "addition", "note"]);
});

describe("anything but a reference is refused with a helpful message", () => {
  it.each([
    ["a text", "openapi: 3.1.0", "has no paths"],
    ["Swagger 2", { swagger: "2.0", paths: {} }, "does not say openapi: 3.x"],
    ["a pointer to nowhere", broken(remove([...schemas, "Author"])), "#/components/schemas/Author"],
    ["a pointer into another file", broken(set(field("author"), elsewhere)), "file (author.yaml#/Author)"],
    ["pointers in a circle", broken(set([...schemas, "Author"], toAuthor)), "circle"],
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
      put(document, [...schemas, "Titled", "allOf"], [{ $ref: "#/components/schemas/Book" }]);
    });
    expect(drifts).toEqual([]);
  });
});

/** The vendor's reference is not part of the project; where it is beside it, the connector is compared with it. */
const file = new URL("../../../shared/reference/fintoro-openapi.yaml", import.meta.url);
const isThere = existsSync(file);
const absent = isThere ? "" : " (absent here: nothing compared)";

it.runIf(isThere)(`the fintoro connector has no drift from the vendor's reference${absent}`, () => {
  expect(compareWithReference(declaration, parse(readFileSync(file, "utf8")))).toEqual([]);
});
