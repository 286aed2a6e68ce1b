import { z } from "zod";
import type { Operation } from "../../../src/connector/operation.ts";

/**
 * An operation without its name and its source. The functions below keep every literal in the type, so that the
 * types of the client's methods follow from the operations.
 */
export type Unnamed = Omit<Operation, "name" | "origin">;

function get<const P extends string, const A extends Operation["answer"]>(path: P, answer: A) {
  return { method: "GET", path, status: 200, answer } as const;
}

export function show<const P extends string, S extends z.ZodObject>(path: P, schema: S) {
  return get(path, { kind: "record", schema });
}

export function wholeList<const P extends string, S extends z.ZodObject>(path: P, schema: S) {
  return get(path, { kind: "list", schema, paged: false });
}

/** GET of a list in pages; `perPage` is the largest page. */
export function pagedList<const P extends string, S extends z.ZodObject, F extends z.ZodRawShape>(
  path: P,
  schema: S,
  perPage: number,
  filters: F,
) {
  const page = { perPage: z.int().min(1).max(perPage).optional(), page: z.int().min(1).optional() };
  const list = get(path, { kind: "list", schema, paged: true });
  return filtered(list, z.strictObject({ ...filters, ...page }));
}

export function filtered<O extends Unnamed, Q extends z.ZodObject>(operation: O, query: Q) {
  return { ...operation, query };
}

export function download<const P extends string>(path: P, mediaType: string) {
  return get(path, { kind: "file", mediaType });
}

export const pdf = <const P extends string>(path: P) => download(path, "application/pdf");

/** POST adds a record, PUT replaces it, PATCH changes the fields that are sent. */
export function writeRecord<
  const M extends "POST" | "PUT" | "PATCH",
  const P extends string,
  B extends z.ZodObject,
  S extends z.ZodObject,
>(method: M, path: P, body: B, schema: S) {
  const answer = { kind: "record", schema } as const;
  return { method, path, body, status: method === "POST" ? 201 : 200, answer } as const;
}

export function create<const P extends string, B extends z.ZodObject, S extends z.ZodObject>(
  path: P,
  body: B,
  schema: S,
) {
  return { ...writeRecord("POST", path, body, schema), idempotent: true } as const;
}

export function remove<const P extends string>(path: P) {
  return { method: "DELETE", path, status: 204, answer: { kind: "nothing" } } as const;
}

/** What most kinds of records offer: create, show, replace and delete. `id` names the path's parameter. */
export function records<
  const P extends string,
  const I extends string,
  S extends z.ZodObject,
  B extends z.ZodObject,
>(path: P, id: I, schema: S, body: B) {
  const one = `${path}/{${id}}` as const;
  return {
    create: create(path, body, schema),
    show: show(one, schema),
    update: writeRecord("PUT", one, body, schema),
    delete: remove(one),
  };
}
