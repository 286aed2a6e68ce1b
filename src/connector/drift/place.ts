import { isObject } from "../../json/literal.ts";

export type SchemaObject = Readonly<Record<string, unknown>>;

/** Follows `$ref`; an empty object for anything but an object. */
export type Resolve = (schema: unknown) => SchemaObject;

/** What is said of a place, by name: `type`, `maximum`, `value paid`. */
export type PlaceFacts = Readonly<Record<string, string | number | undefined>>;

/** An operation, a parameter, a body, an answer or a field, as one side describes it. */
export interface Place {
  /** `it` says whether it is there, in a request also `required` or `optional`. */
  readonly facts: PlaceFacts;
  /** Places within, by what they add to the address: ` ?sortBy`, `.number`. Called late: schemas may be circular. */
  readonly inner?: () => ReadonlyMap<string, Place>;
  /** The name of a record: differences are reported under it. */
  readonly name?: unknown;
  readonly isAnswer?: boolean;
  /** The connector says no more of it than this: only what contradicts it is reported. */
  readonly isPartial?: boolean;
}

export const upperLimits = new Set("maximum exclusiveMaximum maxLength maxItems".split(" "));
export const lowerLimits = new Set("minimum exclusiveMinimum minLength minItems".split(" "));

/** The place of a JSON schema in a request or an answer; `facts` are those that stand outside of it. */
export function schemaPlace(schema: unknown, resolve: Resolve, facts: PlaceFacts, isAnswer: boolean): Place {
  const parts = partsOf(schema, resolve);
  const required = new Set(parts.flatMap((part) => arrayAt(part, "required")));
  const innerPlace = (field: unknown, name: string) => {
    const it = isAnswer ? "present" : required.has(name) ? "required" : "optional";
    return schemaPlace(field, resolve, { it }, isAnswer);
  };
  const whole = merged(parts);
  const limits = Object.entries(whole).filter(([name]) => upperLimits.has(name) || lowerLimits.has(name));
  // A schema that nothing fits: the connector relies on the field's absence.
  const isExcluded = isObject(whole["not"]) && whole["type"] === undefined;
  return {
    facts: {
      ...facts,
      ...(isExcluded && { it: "unexpected" }),
      ...factsOf(parts),
      ...Object.fromEntries(limits.map(([name, limit]) => [name, Number(limit)])),
    },
    inner: () => innerPlaces(parts, innerPlace),
    name: whole["recordName"],
    isAnswer,
  };
}

/** The schemas that make up one: itself, what it refers to, `allOf`, and the choices of `anyOf` and `oneOf`. */
function partsOf(
  schema: unknown,
  resolve: Resolve,
  followed: readonly string[] = [],
): readonly SchemaObject[] {
  if (!isObject(schema)) return [];
  const inner = (part: unknown) => partsOf(part, resolve, followed);
  const pointer: unknown = schema["$ref"];
  const target =
    typeof pointer === "string" && !followed.includes(pointer)
      ? partsOf(resolve(schema), resolve, [...followed, pointer])
      : [];
  const choices = [...arrayAt(schema, "anyOf"), ...arrayAt(schema, "oneOf")].filter(describesValue);
  const isOpen = choices.filter((one) => one["type"] !== "null").length > 1;
  const chosen = choices.flatMap(inner);
  return [
    schema,
    ...target,
    ...arrayAt(schema, "allOf").flatMap(inner),
    // What is sure of a value that may be of several kinds.
    ...(isOpen ? chosen.map(({ type, nullable, properties }) => ({ type, nullable, properties })) : chosen),
  ];
}

const ruleKeywords = new Set(["required", "description", "not"]);

/** `{required: [...]}` alone is a rule over fields, not a kind of value. */
function describesValue(choice: unknown): choice is SchemaObject {
  return isObject(choice) && Object.keys(choice).some((key) => !ruleKeywords.has(key));
}

function merged(parts: readonly SchemaObject[]): SchemaObject {
  return Object.assign({}, ...parts);
}

function innerPlaces(parts: readonly SchemaObject[], place: (field: unknown, name: string) => Place) {
  const fields = parts.flatMap((part) => Object.entries(objectAt(part, "properties")));
  const byName = Map.groupBy(fields, ([name]) => name);
  const inner = new Map<string, Place>();
  for (const [name, same] of byName)
    inner.set(`.${name}`, place({ allOf: same.map(([, field]) => field) }, name));
  const items = parts.map((part) => part["items"]).filter(isObject);
  return items.length > 0 ? inner.set("[]", place({ allOf: items }, "")) : inner;
}

function factsOf(parts: readonly SchemaObject[]): PlaceFacts {
  const types = new Set(parts.flatMap((part) => part["type"]).filter((one) => typeof one === "string"));
  const { enum: list, const: only, format, unlisted: free } = merged(parts);
  const listed: unknown = only === undefined ? list : [only];
  const values: readonly unknown[] = Array.isArray(listed) ? listed : [];
  const isNullable =
    types.delete("null") || values.includes(null) || parts.some((part) => part["nullable"] === true);
  const unlisted = new Set(Array.isArray(free) ? free.map(String) : []);
  const known = values.filter((value) => value !== null).map(String);
  return {
    type: [...types].toSorted().join("|") || undefined,
    null: isNullable ? "allowed" : undefined,
    format: format === "date" || format === "date-time" ? format : undefined,
    "list of values": Array.isArray(listed)
      ? known.filter((one) => !unlisted.has(one)).join(", ")
      : undefined,
    ...Object.fromEntries(known.map((one) => [`value ${one}`, unlisted.has(one) ? "unlisted" : "present"])),
  };
}

export function objectAt(object: SchemaObject, name: string): SchemaObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return isObject(value) ? value : {};
}

export function arrayAt(object: SchemaObject, name: string): readonly unknown[] {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return Array.isArray(value) ? value : [];
}
