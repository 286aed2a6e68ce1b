import type { Drift } from "../../../src/connector/drift/drift.ts";

/** An OpenAPI document as a test builds it: plain data, to be bent anywhere. */
export interface Published {
  [key: string]: Published | Published[] | string | number | boolean | null | (string | number | null)[];
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: Published): Published => ({ content: { "application/json": { schema } } });
const listOf = (name: string, more: Published = {}): Published => ({
  type: "object",
  properties: { data: { type: "array", items: ref(name) }, ...more },
});
const answers = (status: string, response: Published): Published => ({
  responses: { [status]: { description: "Success", ...response }, "404": { description: "Gone" } },
});
const query = (name: string, schema: Published, required = false): Published => ({
  in: "query",
  name,
  required,
  schema,
});

/** The library's reference, in the ways that version 3.1 says things. */
export function libraryReference() {
  return {
    openapi: "3.1.0",
    paths: {
      "/books": {
        get: {
          parameters: [
            query("sortBy", { type: "string", enum: ["id", "title"] }),
            query("perPage", { type: "integer", minimum: 1, maximum: 100 }),
            { $ref: "#/components/parameters/Page" },
          ],
          ...answers("200", json(listOf("Book", { paginator: ref("Paginator") }))),
        },
        post: {
          parameters: [{ in: "header", name: "Idempotency-Key", schema: { type: "string" } }],
          requestBody: { required: true, ...json(ref("BookInput")) },
          ...answers("201", json(ref("Book"))),
        },
      },
      "/books/{book}": {
        parameters: [{ in: "path", name: "book", required: true, schema: { type: "integer" } }],
        get: answers("200", json(ref("Book"))),
        delete: answers("204", {}),
      },
      "/books/{book}/pdf": {
        parameters: [{ in: "path", name: "book", required: true, schema: { type: "integer" } }],
        get: answers("200", { content: { "application/pdf": { schema: { type: "string" } } } }),
      },
      "/authors": { get: answers("200", json(listOf("Author"))) },
      "/watches": { get: answers("200", json(listOf("Watch"))) },
    },
    components: { parameters: { Page: query("page", { type: "integer", minimum: 1 }) }, schemas: schemas() },
  };
}

function schemas() {
  return {
    Author: { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } } },
    Titled: { type: "object", properties: { id: { type: "integer" }, title: { type: "string" } } },
    Book: {
      allOf: [
        ref("Titled"),
        {
          type: "object",
          properties: {
            genre: { type: "string", enum: ["novel", "poetry"] },
            price: { type: "number", format: "float" },
            printedAt: { type: ["string", "null"], format: "date" },
            author: { anyOf: [ref("Author"), { type: "null" }] },
            pages: { type: "array", items: ref("Page") },
          },
        },
      ],
    },
    Page: { type: "object", properties: { number: { type: "integer" }, words: { type: "number" } } },
    BookInput: {
      type: "object",
      required: ["title"],
      anyOf: [{ required: ["price"] }, { required: ["note"] }],
      properties: {
        title: { type: "string", minLength: 1, maxLength: 80 },
        genre: { type: "string", enum: ["novel", "poetry"] },
        price: { type: "number", minimum: 0 },
        note: { type: ["string", "null"] },
      },
    },
    Watch: {
      type: "object",
      properties: { id: { type: "integer" }, events: { type: "array", items: ref("EventName") } },
    },
    EventName: { type: "string", enum: ["books.created", "books.deleted"] },
    Paginator: paginator(),
  };
}

function paginator() {
  const integers = ["currentPage", "perPage", "totalPages", "totalResults", "currentFrom", "currentTo"];
  const link = {
    type: "object",
    properties: { url: { type: ["string", "null"] }, label: { type: "string" }, active: { type: "boolean" } },
  };
  return {
    type: "object",
    properties: {
      ...Object.fromEntries(integers.map((name) => [name, { type: "integer" }])),
      firstPageUrl: { type: "string" },
      lastPageUrl: { type: "string" },
      nextPageUrl: { type: ["string", "null"] },
      previousPageUrl: { type: ["string", "null"] },
      links: { type: "array", items: link },
    },
  };
}

/** Sets what stands at a path of keys; `undefined` removes it. */
export function put(document: object, path: readonly string[], value: unknown): void {
  const parents = path.slice(0, -1);
  const parent = parents.reduce((at: unknown, key) => Reflect.get(Object(at), key), document);
  const last = path.at(-1) ?? "";
  if (typeof parent !== "object" || parent === null) throw new Error(`nothing at ${parents.join("/")}`);
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else Reflect.set(parent, last, value);
}

export function get(document: object, path: readonly string[]): unknown {
  return path.reduce((at: unknown, key) => Reflect.get(Object(at), key), document);
}

/** A drift in words, as `said` gives them. */
const drift =
  (severity: Drift["severity"]) =>
  (where: string, fact: string, published: string, ours: string): string =>
    `${severity} ${where}: ${fact} is ${published} in the reference, ${ours} in the connector`;
export const breaking = drift("breaking");
export const addition = drift("addition");
export const note = drift("note");
export const gone = (where: string): string => breaking(where, "it", "absent", "present");
export const added = (where: string): string => addition(where, "it", "present", "absent");

export function said(drifts: readonly Drift[]): string[] {
  return drifts.map(({ severity, where, what }) => `${severity} ${where}: ${what}`);
}
