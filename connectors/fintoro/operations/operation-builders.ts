import { z } from "zod";
import type { Origin } from "../../../src/connector/field.ts";
import type { Operation } from "../../../src/connector/operation.ts";

/**
 * An operation without its name. The functions below keep every literal in the type, so that the types of the
 * client's methods follow from the operations.
 */
export type Unnamed = Omit<Operation, "name">;

const published: Origin = "published";

/** GET of one record. */
export function show<const P extends string, S extends z.ZodObject>(path: P, schema: S) {
  const answer = { kind: "record", schema } as const;
  return { method: "GET", path, origin: published, status: 200, answer } as const;
}

/** GET of a list that comes in one answer. */
export function wholeList<const P extends string, S extends z.ZodObject>(path: P, schema: S) {
  const answer = { kind: "list", schema, paged: false } as const;
  return { method: "GET", path, origin: published, status: 200, answer } as const;
}

/** GET of a list in pages; `perPage` is the largest page. */
export function pagedList<const P extends string, S extends z.ZodObject, F extends z.ZodRawShape>(
  path: P,
  schema: S,
  perPage: number,
  filters: F,
) {
  const page = {
    perPage: z.int().min(1).max(perPage).optional(),
    page: z.int().min(1).optional(),
  };
  const query = z.strictObject({ ...filters, ...page });
  const answer = { kind: "list", schema, paged: true } as const;
  return { method: "GET", path, origin: published, query, status: 200, answer } as const;
}

/** The same operation with query parameters. */
export function filtered<O extends Unnamed, Q extends z.ZodObject>(operation: O, query: Q) {
  return { ...operation, query };
}

/** POST that answers 201 with the record. */
export function create<const P extends string, B extends z.ZodObject, S extends z.ZodObject>(
  path: P,
  body: B,
  schema: S,
) {
  const answer = { kind: "record", schema } as const;
  return { method: "POST", path, origin: published, body, status: 201, answer } as const;
}

/** PUT replaces the record, PATCH changes the fields that are sent. */
export function update<
  const M extends "PUT" | "PATCH",
  const P extends string,
  B extends z.ZodObject,
  S extends z.ZodObject,
>(method: M, path: P, body: B, schema: S) {
  const answer = { kind: "record", schema } as const;
  return { method, path, origin: published, body, status: 200, answer } as const;
}

/** DELETE that answers 204. */
export function remove<const P extends string>(path: P) {
  const answer = { kind: "nothing" } as const;
  return { method: "DELETE", path, origin: published, status: 204, answer } as const;
}

/** GET of a file. */
export function download<const P extends string>(path: P, mediaType: string) {
  const answer = { kind: "file", mediaType } as const;
  return { method: "GET", path, origin: published, status: 200, answer } as const;
}

/** GET of a PDF. */
export const pdf = <const P extends string>(path: P) => download(path, "application/pdf");

/** The same operation, which takes an `Idempotency-Key`. */
export function idempotent<O extends Unnamed>(operation: O) {
  return { ...operation, idempotent: true } as const;
}

/** The same operation, stated by the interface document. */
export function statedRoute<O extends Unnamed>(operation: O): O {
  return { ...operation, origin: "stated" };
}

/** What most kinds of records offer: create, show, replace and delete. */
export function records<
  const P extends string,
  const O extends string,
  S extends z.ZodObject,
  B extends z.ZodObject,
>(path: P, one: O, schema: S, body: B) {
  return {
    create: idempotent(create(path, body, schema)),
    show: show(one, schema),
    update: update("PUT", one, body, schema),
    delete: remove(one),
  };
}

type Named<T> = { readonly [K in keyof T]: T[K] & { readonly name: string } };

/** Operations named after their group: `invoices.create`. */
export function group<const T extends Readonly<Record<string, Unnamed>>>(name: string, written: T): Named<T> {
  const named = Object.entries(written).map(([key, one]) => [key, { ...one, name: `${name}.${key}` }]);
  return Object.fromEntries(named) as Named<T>;
}
