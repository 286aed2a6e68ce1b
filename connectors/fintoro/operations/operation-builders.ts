import { z } from "zod";
import type { Operation } from "../../../src/connector/operation.ts";

/**
 * An operation without its name. The functions below keep every literal in the type, so that the types of the client's
 * methods follow from the operations.
 */
type Unnamed = Omit<Operation, "name">;

type Named<G> = {
  readonly [K in keyof G]: { readonly [M in keyof G[K]]: G[K][M] & Pick<Operation, "name"> };
};

/** The operations of each group, with their names: `invoices.create`. */
export function named<G extends Readonly<Record<string, Readonly<Record<string, Unnamed>>>>>(
  groups: G,
): Named<G> {
  const entries = Object.entries(groups).map(([group, operations]) => {
    const members = Object.entries(operations);
    return [
      group,
      Object.fromEntries(members.map(([key, one]) => [key, { ...one, name: `${group}.${key}` }])),
    ];
  });
  return Object.fromEntries(entries) as Named<G>;
}

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
  return { ...list, query: z.strictObject({ ...filters, ...page }) };
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

/** Parts of request bodies and queries, with the limits as published. */
export const id = z.int();

/** Text of that many characters; counted as the service does, not in UTF-16 units. */
export function characters(maxLength: number, minLength = 0) {
  const fits = (value: string) => {
    const length = Array.from(value).length;
    return length >= minLength && length <= maxLength;
  };
  const error = minLength
    ? `must have ${minLength} to ${maxLength} characters`
    : `must have at most ${maxLength} characters`;
  const limits = minLength ? { minLength, maxLength } : { maxLength };
  return z.string().refine(fits, { error }).meta(limits);
}

/** Only catches what is no address at all; the service decides. */
const address = /^[^\s@]+@[^\s@]+$/;
export const email = (maxLength?: number) => {
  const type = z.string().regex(address, { error: "must be an e-mail address" });
  return maxLength === undefined ? type : type.max(maxLength);
};

export const day = z.iso.date({ error: "must be a date, YYYY-MM-DD" });
export const amount = (minimum?: number, maximum?: number) => {
  const atLeast = minimum === undefined ? z.number() : z.number().min(minimum);
  return maximum === undefined ? atLeast : atLeast.max(maximum);
};

export const maybe = <T extends z.ZodType>(type: T) => type.nullable().optional();

/** The largest price, either sign. */
const tenTrillion = 10_000_000_000_000;
export const price = amount(-tenTrillion, tenTrillion);
export const positive = (maximum: number) => amount(0.00001, maximum);
export const limits = { tenTrillion, quantity: 1_000_000 } as const;

export const variableSymbol = z.int().min(0).max(9_999_999_999);
export const constantSymbol = z.int().min(0).max(9_999);

const sortDirection = z.enum(["asc", "desc"]).optional();
export const sorted = <const K extends readonly string[]>(keys: K) => ({
  sortBy: z.enum(keys).optional(),
  sortDirection,
});

type Present = Readonly<Record<string, unknown>>;
const isGiven = (value: unknown) => value !== undefined && value !== null;

/** A rule over several fields, for `refine`; its error is reported at the first. */
type Rule = [(value: Present) => boolean, { error: string; path: string[] }];

export function exactlyOne(...fields: readonly string[]): Rule {
  const rule = (value: Present) => fields.filter((field) => isGiven(value[field])).length === 1;
  return [rule, { error: `exactly one of ${fields.join(", ")} must be given`, path: fields.slice(0, 1) }];
}

/** All fields of at least one of these groups must be given. */
export function oneOrOther(...choices: readonly (readonly string[])[]): Rule {
  const rule = (value: Present) => choices.some((fields) => fields.every((field) => isGiven(value[field])));
  const said = choices.map((fields) => fields.join(" with ")).join(" or ");
  return [rule, { error: `${said} must be given`, path: choices[0]?.slice(0, 1) ?? [] }];
}
