import { z } from "zod";

/** Where a fact is from: the interface document (`stated`) or the vendor's reference (`published`). */
export type Origin = "stated" | "published";

export type ScalarType = "integer" | "decimal" | "text" | "boolean" | "date" | "timestamp" | "json";

interface FieldFacts {
  readonly origin: Origin;
  /** May be `null`, or be left out. */
  readonly nullable: boolean;
  /** What it means; shown by `schema --tables`. */
  readonly doc?: string;
}

interface ScalarField extends FieldFacts {
  readonly shape: "scalar";
  readonly type: ScalarType;
  /** Known values; any other is kept, never refused. */
  readonly values?: readonly string[];
  /** The resource whose id this is. */
  readonly references?: string;
}

export type Field =
  | ScalarField
  /** A nested record of another resource: stored as `<name>_id`. */
  | (FieldFacts & { readonly shape: "lookup"; readonly resource: string })
  /** A nested object of this record: stored in columns with a prefix. */
  | (FieldFacts & { readonly shape: "snapshot"; readonly fields: Fields })
  /** An array of parts of this record: stored in a child table and replaced as a set. */
  | (FieldFacts & { readonly shape: "children"; readonly table: string; readonly fields: Fields })
  /** An array of full records of a resource without a list of its own, such as payments in a document. */
  | (FieldFacts & { readonly shape: "owned"; readonly resource: string });

/** By field name of the API, in the order of columns. */
export type Fields = Readonly<Record<string, Field>>;

/**
 * Types of a connector's fields: zod types, from which the client's answers are typed, each with the facts that the
 * store needs. Objects accept unknown fields and enums unknown values (I12).
 */
const facts = new WeakMap<z.ZodType, Field>();

function field<T extends z.ZodType>(schema: T, fact: Field): T {
  facts.set(schema, fact);
  return schema;
}

/** The facts of a field. Throws when the type was not made by a function of this file. */
export function factOf(schema: z.ZodType): Field {
  const fact = knownFact(schema);
  if (!fact) throw new Error("broken promise: every field of a connector is made by connector/record-schema");
  return fact;
}

const published = { origin: "published", nullable: false } as const;

function scalar<T extends z.ZodType>(schema: T, type: ScalarType, more: Partial<ScalarField> = {}): T {
  return field(schema, { shape: "scalar", type, ...published, ...more });
}

export const integer = () => scalar(z.int(), "integer");
/** An amount, rate, price, quantity or percentage: REAL in SQLite. */
export const decimal = () => scalar(z.number(), "decimal");
export const text = () => scalar(z.string(), "text");
export const boolean = () => scalar(z.boolean(), "boolean");
export const date = () => scalar(z.string(), "date");
export const timestamp = () => scalar(z.string(), "timestamp");
export const idOf = (resource: string) => scalar(z.int(), "integer", { references: resource });
/** Anything else: kept as JSON text. */
export const json = <T extends z.ZodType>(schema: T) => scalar(schema, "json");

/**
 * An open enum: the known values are in the type, any other string passes too. `unlisted` are values that the
 * published reference does not list at this place, though the interface document or a similar field does.
 */
export function oneOf<const V extends readonly string[]>(values: V, unlisted: readonly V[number][] = []) {
  const open = z.union([z.enum(values), z.string()]);
  const type = unlisted.length > 0 ? open.meta({ unlisted }) : open;
  return scalar(type as z.ZodType<V[number] | (string & {})>, "text", { values });
}

/** The name of an event; the known ones are in the connector's event rules. */
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

export function stated<T extends z.ZodType>(schema: T): T {
  return field(schema, { ...factOf(schema), origin: "stated" });
}

export function doc<T extends z.ZodType>(words: string, schema: T): T {
  return field(schema, { ...factOf(schema), doc: words });
}

type WordsOf<S extends string> = S extends `${infer First} ${infer Rest}` ? First | WordsOf<Rest> : S;

/** `a b c` -> a, b and c, also in the type. */
export function namesIn<const S extends string>(list: S): readonly WordsOf<S>[] {
  return list.split(" ") as WordsOf<S>[];
}

/** Fields of one type, by their names with a space between them. */
export function each<const N extends string, T extends z.ZodType>(names: N, type: T) {
  return Object.fromEntries(namesIn(names).map((name) => [name, type])) as Record<WordsOf<N>, T>;
}

/** The same fields; the interface document names them all. */
export function allStated<S extends Readonly<Record<string, z.ZodType>>>(fields: S): S {
  for (const type of Object.values(fields)) stated(type);
  return fields;
}

export function record<S extends z.ZodRawShape>(shape: S) {
  return z.looseObject(shape);
}

export function fieldsOf(schema: z.ZodObject): Fields {
  const entries = Object.entries(schema.shape).map(([name, type]) => [name, factOf(type as z.ZodType)]);
  return Object.freeze(Object.fromEntries(entries)) as Fields;
}

const originals = new WeakMap<z.ZodType, z.ZodType>();

/** Facts belong to an instance: a type that is used twice needs one for each place. */
function clone<T extends z.ZodType>(schema: T): T {
  const copy = schema.clone();
  originals.set(copy, originalOf(schema));
  return copy;
}

/** The record type that a nested one was made from; `connector check` names differences after it. */
export function originalOf(schema: z.ZodType): z.ZodType {
  return originals.get(schema) ?? schema;
}

export function knownFact(schema: z.ZodType): Field | undefined {
  return facts.get(schema);
}
