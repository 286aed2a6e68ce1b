import { z } from "zod";
import type { Field, Fields, Origin, ScalarField, ScalarType } from "./field.ts";

/**
 * How a connector writes its fields down: ordinary zod types, so that the client's answers are typed
 * and the sandbox can be held to them, with the facts the store needs attached to each.
 * Objects are loose (an unknown field passes) and enums are open (an unknown value passes).
 */
const facts = new WeakMap<z.ZodType, Field>();

function field<T extends z.ZodType>(schema: T, fact: Field): T {
  facts.set(schema, fact);
  return schema;
}

export function factOf(schema: z.ZodType): Field {
  const fact = knownFact(schema);
  if (!fact) throw new Error("broken promise: every field of a connector is made by connector/schema");
  return fact;
}

const published = { origin: "published", nullable: false } as const;

function scalar<T extends z.ZodType>(schema: T, type: ScalarType, more: Partial<ScalarField> = {}): T {
  return field(schema, { shape: "scalar", type, ...published, ...more });
}

export const integer = () => scalar(z.int(), "integer");
/** An amount, rate, price, quantity or percentage: exact decimal text in the service, REAL in SQLite. */
export const decimal = () => scalar(z.number(), "decimal");
export const text = () => scalar(z.string(), "text");
export const boolean = () => scalar(z.boolean(), "boolean");
export const date = () => scalar(z.string(), "date");
export const timestamp = () => scalar(z.string(), "timestamp");
/** The id of a record of `resource`. */
export const idOf = (resource: string) => scalar(z.int(), "integer", { references: resource });
/** Anything without a place in SQL: kept as JSON text. */
export const json = <T extends z.ZodType>(schema: T) => scalar(schema, "json");

/**
 * Known values give the type, any other string still passes. `unlisted` are those that the published
 * reference does not list at this place (the interface document names them, or a sibling field does).
 */
export function oneOf<const V extends readonly string[]>(values: V, unlisted: readonly V[number][] = []) {
  const open = z.union([z.enum(values), z.string()]);
  const told = unlisted.length > 0 ? open.meta({ unlisted }) : open;
  return scalar(told as z.ZodType<V[number] | (string & {})>, "text", { values });
}

/** The name of an event; the manifest's event rules say which are known. */
export const eventName = () => z.string().meta({ eventName: true });

export function nested<T extends z.ZodType>(resource: string, schema: T): T {
  return field(clone(schema), { shape: "lookup", resource, ...published });
}

export function snapshot<T extends z.ZodObject>(schema: T): T {
  return field(clone(schema), { shape: "snapshot", fields: fieldsOf(schema), ...published });
}

export function children<T extends z.ZodObject>(table: string, schema: T): z.ZodArray<T> {
  return field(z.array(schema), { shape: "children", table, fields: fieldsOf(schema), ...published });
}

export function owned<T extends z.ZodType>(resource: string, schema: T): z.ZodArray<T> {
  return field(z.array(schema), { shape: "owned", resource, ...published });
}

export function orNull<T extends z.ZodType>(inner: T): z.ZodOptional<z.ZodNullable<T>> {
  return field(inner.nullable().optional(), { ...factOf(inner), nullable: true });
}

/** The interface document itself names this field. */
export function stated<T extends z.ZodType>(schema: T): T {
  return withFacts(schema, { origin: "stated" });
}

export function doc<T extends z.ZodType>(words: string, schema: T): T {
  return withFacts(schema, { doc: words });
}

function withFacts<T extends z.ZodType>(schema: T, more: { origin?: Origin; doc?: string }): T {
  return field(schema, { ...factOf(schema), ...more });
}

export function record<S extends z.ZodRawShape>(shape: S) {
  return z.looseObject(shape);
}

/** The store's view of a record type. */
export function fieldsOf(schema: z.ZodObject): Fields {
  const entries = Object.entries(schema.shape).map(([name, type]) => [name, factOf(type as z.ZodType)]);
  return Object.freeze(Object.fromEntries(entries)) as Fields;
}

const originals = new WeakMap<z.ZodType, z.ZodType>();

/** Facts hang on the instance; a type used twice needs an instance for each place. */
function clone<T extends z.ZodType>(schema: T): T {
  const copy = schema.clone();
  originals.set(copy, originalOf(schema));
  return copy;
}

/** The record type that a nested one was made from: what `connector check` names a difference after. */
export function originalOf(schema: z.ZodType): z.ZodType {
  return originals.get(schema) ?? schema;
}

/** The facts of a type, where it was made as a field. */
export function knownFact(schema: z.ZodType): Field | undefined {
  return facts.get(schema);
}
