import { z } from "zod";
import { snakeCase } from "../../../src/base/names.ts";
import * as s from "../../../src/connector/record-schema.ts";
import { defineResource, type Resource } from "../../../src/connector/resource.ts";
import type { ConnectorDeclaration } from "../../../src/connector/connector-declaration.ts";
import type { Operation } from "../../../src/connector/operation.ts";

/** A column as the mirror's contract describes it: what it holds and whose id it is. */
export interface ExpectedColumn {
  readonly type: s.ScalarType;
  readonly references: string | null;
}

/** The contract's column mapping, written a second time, so that it can disagree with the store's. */
export function columnsOf(fields: s.Fields, prefix = ""): [name: string, column: ExpectedColumn][] {
  return Object.entries(fields).flatMap(([name, field]) => columnsOfField(prefix + snakeCase(name), field));
}

function columnsOfField(name: string, field: s.Field): [string, ExpectedColumn][] {
  if (field.shape === "scalar") return [[name, { type: field.type, references: field.references ?? null }]];
  if (field.shape === "lookup") return [[`${name}_id`, { type: "integer", references: field.resource }]];
  return field.shape === "snapshot" ? columnsOf(field.fields, `${name}_`) : [];
}

/** Every field of a record with its path, the nested ones of snapshots and child rows too. */
export function allFields(fields: s.Fields, prefix = ""): [path: string, field: s.Field][] {
  return Object.entries(fields).flatMap(([name, field]): [string, s.Field][] => {
    const path = prefix + name;
    const inner = field.shape === "snapshot" || field.shape === "children" ? field.fields : {};
    return [[path, field], ...allFields(inner, `${path}.`)];
  });
}

const author = s.record({ id: s.integer(), name: s.text() });

const page = s.record({ number: s.integer(), words: s.decimal() });

const book = s.record({
  id: s.integer(),
  title: s.text(),
  genre: s.oneOf(["novel", "poetry", "ballad"], ["ballad"]),
  price: s.decimal(),
  printedAt: s.orNull(s.date()),
  author: s.orNull(s.nested("authors", author)),
  pages: s.doc("In their order", s.children("book_pages", page)),
});

const watch = s.record({ id: s.integer(), events: s.json(z.array(s.eventName())) });

const bookInput = z.strictObject({
  title: z.string().min(1).max(80),
  genre: z.enum(["novel", "poetry"]).optional(),
  price: z.number().min(0).optional(),
  note: z.string().nullable().optional(),
});

const bookQuery = z.strictObject({
  sortBy: z.enum(["id", "title"]).optional(),
  perPage: z.int().min(1).max(100).optional(),
  page: z.int().min(1).optional(),
});

function read(name: string, path: string, answer: Operation["answer"]) {
  return { name, method: "GET", path, status: 200, answer } as const;
}

const operations: readonly Operation[] = [
  { ...read("books.list", "/books", { kind: "list", schema: book, paged: true }), query: bookQuery },
  {
    ...read("books.create", "/books", { kind: "record", schema: book }),
    method: "POST",
    status: 201,
    body: bookInput,
    idempotent: true,
  },
  read("books.show", "/books/{book}", { kind: "record", schema: book }),
  { ...read("books.delete", "/books/{book}", { kind: "nothing" }), method: "DELETE", status: 204 },
  read("books.pdf", "/books/{book}/pdf", { kind: "file", mediaType: "application/pdf" }),
  read("authors.list", "/authors", { kind: "list", schema: author, paged: false }),
  read("watches.list", "/watches", { kind: "list", schema: watch, paged: false }),
];

function whole(name: string, title: string, type: z.ZodObject): Resource {
  return defineResource({ name, title, record: type, list: { kind: "whole", path: `/${name}` } });
}

/** A connector to a small library, for tests that would drown in a real one. */
export const library: ConnectorDeclaration = {
  name: "library",
  title: "Library",
  baseUrl: "http://127.0.0.1/library",
  limits: { requests: 10, windowMs: 1000 },
  languages: ["en"],
  resources: [
    whole("authors", "Authors", author),
    defineResource({
      name: "books",
      title: "Books",
      record: book,
      list: { kind: "paged", path: "/books", perPage: 100, params: { sortBy: "id" } },
      detail: "/books/{id}",
      files: {
        kind: "pdf",
        path: "/books/{id}/pdf",
        mediaType: "application/pdf",
        date: "published_on",
        name: [],
      },
    }),
    whole("watches", "Watches", watch),
  ],
  events: [
    { type: "books.created", resourceType: "book", resource: "books", action: "refetch" },
    { type: "books.deleted", resourceType: "book", resource: "books", action: "confirm" },
  ],
  cascades: [],
  identity: { resource: "authors", nameField: "name", businessIdColumn: "id", businessIdIn: [], proofs: [] },
  operations,
};
