import { isObject } from "../../json/literal.ts";
import { arrayAt, objectAt, type JsonObject } from "./reference.ts";

/**
 * What a JSON schema says, in one form for both sides: references followed, `allOf` merged, the many
 * ways to say "or null" made one.
 */
export interface Shape {
  /** Without `null`; empty when the schema does not say. */
  readonly types: ReadonlySet<string>;
  readonly nullable: boolean;
  readonly values: readonly string[] | null;
  readonly format: string | null;
  readonly limits: Readonly<Record<string, number>>;
  readonly properties: ReadonlyMap<string, JsonObject>;
  readonly required: ReadonlySet<string>;
  readonly items: JsonObject | null;
  /** Ours alone: what the record is called, which values the reference need not list. */
  readonly name: string | null;
  readonly unlisted: readonly string[];
}

export type Resolve = (schema: unknown) => JsonObject;

export const upperLimits = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"] as const;
export const lowerLimits = ["minimum", "exclusiveMinimum", "minLength", "minItems"] as const;

/** `path` holds the references followed so far: one that leads back to itself says nothing new. */
export function shapeOf(schema: unknown, resolve: Resolve, path: readonly string[] = []): Shape {
  if (!isObject(schema)) return ownShape({});
  const parts = [ownShape(schema), ...referredBy(schema, resolve, path)];
  parts.push(...arrayAt(schema, "allOf").map((part) => shapeOf(part, resolve, path)));
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = arrayAt(schema, keyword).filter(saysWhat);
    if (branches.length > 0) parts.push(either(branches.map((branch) => shapeOf(branch, resolve, path))));
  }
  return parts.reduce(both);
}

function referredBy(schema: JsonObject, resolve: Resolve, path: readonly string[]): Shape[] {
  const pointer = schema["$ref"];
  if (typeof pointer !== "string" || path.includes(pointer)) return [];
  return [shapeOf(resolve({ $ref: pointer }), resolve, [...path, pointer])];
}

/** `{required: [...]}` alone is a rule over fields, not a kind of value. */
function saysWhat(branch: unknown): boolean {
  if (!isObject(branch)) return false;
  return Object.keys(branch).some((key) => key !== "required" && key !== "description" && key !== "not");
}

function ownShape(schema: JsonObject): Shape {
  const type = schema["type"];
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string");
  const listed = Object.hasOwn(schema, "const") ? [schema["const"]] : schema["enum"];
  const values = Array.isArray(listed) ? listed : null;
  const format = schema["format"];
  const items = schema["items"];
  const name = schema["recordName"];
  return {
    types: new Set(types.filter((one) => one !== "null")),
    nullable: types.includes("null") || schema["nullable"] === true || (values?.includes(null) ?? false),
    values: values?.filter((one) => one !== null).map(String) ?? null,
    format: typeof format === "string" ? format : null,
    limits: limitsOf(schema),
    properties: new Map(Object.entries(objectAt(schema, "properties")).filter(hasSchema)),
    required: new Set(arrayAt(schema, "required").filter((one) => typeof one === "string")),
    items: isObject(items) ? items : null,
    name: typeof name === "string" ? name : null,
    unlisted: arrayAt(schema, "unlisted").map(String),
  };
}

function hasSchema(entry: [string, unknown]): entry is [string, JsonObject] {
  return isObject(entry[1]);
}

function limitsOf(schema: JsonObject): Record<string, number> {
  const said = [...upperLimits, ...lowerLimits].map((name) => [name, schema[name]] as const);
  return Object.fromEntries(
    said.filter((one): one is [(typeof one)[0], number] => typeof one[1] === "number"),
  );
}

/** All of it holds. */
function both(a: Shape, b: Shape): Shape {
  return {
    types: a.types.size === 0 ? b.types : b.types.size === 0 ? a.types : intersection(a.types, b.types),
    nullable:
      a.types.size === 0
        ? a.nullable || b.nullable
        : b.types.size === 0
          ? a.nullable
          : a.nullable && b.nullable,
    values: a.values && b.values ? a.values.filter((one) => b.values?.includes(one)) : (a.values ?? b.values),
    format: b.format ?? a.format,
    limits: tighter(a.limits, b.limits),
    properties: merged(a.properties, b.properties, "allOf"),
    required: new Set([...a.required, ...b.required]),
    items: a.items && b.items ? { allOf: [a.items, b.items] } : (a.items ?? b.items),
    name: a.name ?? b.name,
    unlisted: [...a.unlisted, ...b.unlisted],
  };
}

/** One of them holds; a branch that is only `null` makes the rest nullable. */
function either(branches: readonly Shape[]): Shape {
  const isNull = (one: Shape) =>
    one.nullable && one.types.size === 0 && !one.values && one.properties.size === 0;
  const rest = branches.filter((one) => !isNull(one));
  const [first, ...others] = rest.length > 0 ? rest : branches;
  const joined = others.reduce(oneOf, first ?? ownShape({}));
  return rest.length < branches.length ? { ...joined, nullable: true } : joined;
}

function oneOf(a: Shape, b: Shape): Shape {
  return {
    types: new Set([...a.types, ...b.types]),
    nullable: a.nullable || b.nullable,
    values: a.values && b.values ? [...new Set([...a.values, ...b.values])] : null,
    format: a.format === b.format ? a.format : null,
    limits: {},
    properties: merged(a.properties, b.properties, "anyOf"),
    required: intersection(a.required, b.required),
    items: a.items && b.items ? { anyOf: [a.items, b.items] } : (a.items ?? b.items),
    name: a.name ?? b.name,
    unlisted: [...a.unlisted, ...b.unlisted],
  };
}

function tighter(a: Shape["limits"], b: Shape["limits"]): Shape["limits"] {
  const result: Record<string, number> = { ...a, ...b };
  for (const name of upperLimits) pick(name, Math.min);
  for (const name of lowerLimits) pick(name, Math.max);
  return result;

  function pick(name: string, choose: (x: number, y: number) => number): void {
    const [x, y] = [a[name], b[name]];
    if (x !== undefined && y !== undefined) result[name] = choose(x, y);
  }
}

function merged(a: Shape["properties"], b: Shape["properties"], how: "allOf" | "anyOf"): Shape["properties"] {
  const result = new Map(a);
  for (const [name, schema] of b) {
    const other = a.get(name);
    result.set(name, other ? { [how]: [other, schema] } : schema);
  }
  return result;
}

function intersection(a: ReadonlySet<string>, b: ReadonlySet<string>): Set<string> {
  return new Set([...a].filter((one) => b.has(one)));
}
