import { isObject } from "../../json/literal.ts";
import { arrayAt, objectAt, type JsonObject, type Reference } from "./reference.ts";

/** What a JSON schema means, in one form: references followed, `allOf` merged, one way to write "or null". */
export interface Shape {
  /** Without `null`; empty when the schema does not say. */
  readonly types: readonly string[];
  readonly nullable: boolean;
  readonly values: readonly string[] | null;
  readonly format: string | null;
  readonly limits: Readonly<Record<string, number>>;
  readonly properties: ReadonlyMap<string, JsonObject>;
  readonly required: readonly string[];
  readonly items: JsonObject | null;
  /** Only in the connector's schemas: the record's name, and values that the reference need not list. */
  readonly name: string | null;
  readonly unlisted: readonly string[];
}

/** Keywords of a schema that bound a value from above. */
export const upperLimits: readonly string[] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems"];
/** Keywords of a schema that bound a value from below. */
export const lowerLimits: readonly string[] = ["minimum", "exclusiveMinimum", "minLength", "minItems"];

/** The shape of a schema. `path` holds the references followed so far: a circular one adds nothing. */
export function shapeOf(schema: unknown, resolve: Reference["resolve"], path: readonly string[] = []): Shape {
  if (!isObject(schema)) return ownShape({});
  const inner = (part: unknown) => shapeOf(part, resolve, path);
  const parts = [ownShape(schema)];
  const pointer: unknown = schema["$ref"];
  if (typeof pointer === "string" && !path.includes(pointer))
    parts.push(shapeOf(resolve(schema), resolve, [...path, pointer]));
  parts.push(...arrayAt(schema, "allOf").map(inner));
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches = arrayAt(schema, keyword).filter(describesValue);
    if (branches.length > 0) parts.push(anyOf(branches.map(inner)));
  }
  return parts.reduce((a, b) => combined(a, b, "allOf"));
}

/** `{required: [...]}` alone is a rule over fields, not a kind of value. */
function describesValue(branch: unknown): boolean {
  const rules = new Set(["required", "description", "not"]);
  return isObject(branch) && Object.keys(branch).some((key) => !rules.has(key));
}

function ownShape(schema: JsonObject): Shape {
  const types = [schema["type"]].flat().filter((one) => typeof one === "string");
  const listed = Object.hasOwn(schema, "const") ? [schema["const"]] : schema["enum"];
  const values: readonly unknown[] | null = Array.isArray(listed) ? listed : null;
  const { format, items, recordName } = schema;
  const properties = Object.entries(objectAt(schema, "properties"));
  const limits = [...upperLimits, ...lowerLimits].map((name) => [name, schema[name]] as const);
  return {
    types: types.filter((one) => one !== "null"),
    nullable: types.includes("null") || schema["nullable"] === true || (values?.includes(null) ?? false),
    values: values?.filter((one) => one !== null).map(String) ?? null,
    format: typeof format === "string" ? format : null,
    limits: Object.fromEntries(limits.filter((one): one is [string, number] => typeof one[1] === "number")),
    properties: new Map(properties.filter((one): one is [string, JsonObject] => isObject(one[1]))),
    required: arrayAt(schema, "required").filter((one) => typeof one === "string"),
    items: isObject(items) ? items : null,
    name: typeof recordName === "string" ? recordName : null,
    unlisted: arrayAt(schema, "unlisted").map(String),
  };
}

/** A branch that is only `null` makes the others nullable. */
function anyOf(branches: readonly Shape[]): Shape {
  const isNull = (one: Shape) =>
    one.nullable && one.types.length === 0 && !one.values && one.properties.size === 0;
  const others = branches.filter((one) => !isNull(one));
  const rest = others.length > 0 ? others : branches;
  const joined = rest.reduce((a, b) => combined(a, b, "anyOf"));
  return rest.length < branches.length ? { ...joined, nullable: true } : joined;
}

/** `allOf`: both hold. `anyOf`: one of them holds. */
function combined(a: Shape, b: Shape, how: "allOf" | "anyOf"): Shape {
  const isAll = how === "allOf";
  const shared = {
    properties: mergedProperties(a.properties, b.properties, how),
    items: a.items && b.items ? { [how]: [a.items, b.items] } : (a.items ?? b.items),
    name: a.name ?? b.name,
    unlisted: [...a.unlisted, ...b.unlisted],
  };
  if (!isAll)
    return {
      ...shared,
      types: union(a.types, b.types),
      nullable: a.nullable || b.nullable,
      values: a.values && b.values ? union(a.values, b.values) : null,
      format: a.format === b.format ? a.format : null,
      limits: {},
      required: intersection(a.required, b.required),
    };
  const [isOpenA, isOpenB] = [a.types.length === 0, b.types.length === 0];
  return {
    ...shared,
    types: isOpenA ? b.types : isOpenB ? a.types : intersection(a.types, b.types),
    nullable: isOpenA ? a.nullable || b.nullable : a.nullable && (isOpenB || b.nullable),
    values: a.values && b.values ? intersection(a.values, b.values) : (a.values ?? b.values),
    format: b.format ?? a.format,
    limits: tighterLimits(a.limits, b.limits),
    required: union(a.required, b.required),
  };
}

function tighterLimits(a: Shape["limits"], b: Shape["limits"]): Shape["limits"] {
  const shared = Object.entries(a).map(([name, mine]): [string, number] => {
    const other = b[name] ?? mine;
    return [name, upperLimits.includes(name) ? Math.min(mine, other) : Math.max(mine, other)];
  });
  return { ...b, ...Object.fromEntries(shared) };
}

function mergedProperties(a: Shape["properties"], b: Shape["properties"], how: "allOf" | "anyOf") {
  const result = new Map(a);
  for (const [name, schema] of b) {
    const other = a.get(name);
    result.set(name, other ? { [how]: [other, schema] } : schema);
  }
  return result;
}

function union(a: readonly string[], b: readonly string[]): string[] {
  return [...new Set([...a, ...b])];
}

function intersection(a: readonly string[], b: readonly string[]): string[] {
  return a.filter((one) => b.includes(one));
}
