import { parse } from "yaml";
import type { Drift } from "../../../src/connector/drift/drift.ts";

const text = `
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
export function libraryReference(): object {
  return parse(text) as object;
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
