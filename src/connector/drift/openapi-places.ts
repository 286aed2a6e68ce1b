import { MirrorError } from "../../base/errors.ts";
import { isObject } from "../../json/literal.ts";

export type SchemaObject = Readonly<Record<string, unknown>>;

/** Follows `$ref`; an empty object for anything but an object. */
type Resolve = (schema: unknown) => SchemaObject;

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

function objectAt(object: SchemaObject, name: string): SchemaObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return isObject(value) ? value : {};
}

function arrayAt(object: SchemaObject, name: string): readonly unknown[] {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return Array.isArray(value) ? value : [];
}

interface PublishedOperation {
  readonly method: string;
  readonly path: string;
  readonly facts: SchemaObject;
  /** Of the path and of the operation, which wins; resolved. */
  readonly parameters: readonly SchemaObject[];
}

const parameterPattern = /\{[^}]*\}/g;
const methods = ["get", "post", "put", "patch", "delete"];

/**
 * Reads a parsed OpenAPI 3 document, of which every part may be anything: operations by `routeKey`. Throws MirrorError
 * `usage` for anything else, as `resolve` does for a broken `$ref`.
 */
export function readReference(document: unknown) {
  const paths = isObject(document) ? document["paths"] : undefined;
  if (!isObject(document) || !isObject(paths)) throw notOpenApi("it has no paths");
  const version: unknown = document["openapi"];
  if (typeof version !== "string" || !version.startsWith("3."))
    throw notOpenApi("it does not say openapi: 3.x");
  const resolve = (schema: unknown) => resolveIn(document, schema);
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    operationsAt(path, resolve(item), resolve),
  );
  const byRoute = operations.map((one) => [routeKey(`${one.method} ${one.path}`), one] as const);
  return { operations: new Map(byRoute), resolve };
}

/** `GET /clients/{}`: the names of parameters do not matter, `/clients/{client}` and `/clients/{id}` are one route. */
export function routeKey(route: string): string {
  return route.replace(parameterPattern, "{}");
}

export function parameterNames(path: string): readonly string[] {
  return path.match(parameterPattern) ?? [];
}

function operationsAt(path: string, item: SchemaObject, resolve: Resolve): PublishedOperation[] {
  return methods
    .filter((method) => isObject(item[method]))
    .map((method) => {
      const facts = objectAt(item, method);
      const all = [...arrayAt(item, "parameters"), ...arrayAt(facts, "parameters")].map(resolve);
      const parameters = new Map(all.map((one) => [`${String(one["in"])} ${String(one["name"])}`, one]));
      return { method: method.toUpperCase(), path, facts, parameters: [...parameters.values()] };
    });
}

/** Sent by the transport with every request. */
const alwaysSent = new Set(["authorization", "accept", "accept-language", "content-type"]);

/** The place of a published operation, beside `ours`, the connector's of this `route`: of several contents ours is compared. */
export function publishedPlace(
  { facts, path, parameters }: PublishedOperation,
  route: string,
  ours: Place,
  resolve: Resolve,
): Place {
  const expected = ours.inner?.() ?? new Map<string, Place>();
  const ourAnswer = [...expected.keys()].find((key) => key.startsWith(" answer ")) ?? "";
  const inner = new Map<string, Place>();
  const names = [...parameterNames(route)];
  for (const { in: place, name, schema, required } of parameters) {
    const it = required === true ? "required" : "optional";
    const parameter = schemaPlace(schema, resolve, { it }, false);
    const header = String(name).toLowerCase();
    if (place === "query") inner.set(` ?${String(name)}`, parameter);
    else if (place === "path") inner.set(` ${names.shift() ?? String(name)}`, parameter);
    else if (header === "idempotency-key") inner.set(" Idempotency-Key", parameter);
    else if (place === "header" && !alwaysSent.has(header)) inner.set(` ${String(name)}`, parameter);
  }
  const body = resolve(facts["requestBody"]);
  const { content, schema } = contentOf(body, expected.get(" body"));
  const it = body["required"] === true ? "required" : "optional";
  if (content !== undefined) inner.set(" body", schemaPlace(schema, resolve, { it, content }, false));
  const responses = objectAt(facts, "responses");
  for (const status of Object.keys(responses).filter((one) => one.startsWith("2"))) {
    const answer = contentOf(resolve(responses[status]), expected.get(ourAnswer));
    const isOurs = status === "2XX" && !Object.hasOwn(responses, ourAnswer.slice(" answer ".length));
    const place = schemaPlace(answer.schema, resolve, { it: "present", content: answer.content }, true);
    inner.set(isOurs ? ourAnswer : ` answer ${status}`, place);
  }
  const deprecated = facts["deprecated"] === true ? "true" : undefined;
  return { facts: { it: "present", path, deprecated }, inner: () => inner };
}

/** The expected media type if it is there, else all that are; with the schema. */
function contentOf(
  part: SchemaObject,
  ours: Place | undefined,
): { content?: string | undefined; schema?: unknown } {
  const expected = ours?.facts["content"];
  const content = objectAt(part, "content");
  const types = Object.keys(content);
  const found = types.find((type) => type.split(";")[0]?.trim().toLowerCase() === expected);
  if (found === undefined) return { content: types.join(", ") || undefined };
  const { schema } = objectAt(content, found);
  return { content: schema === undefined ? `${found} without a schema` : String(expected), schema };
}

const longestChain = 32;

function resolveIn(document: SchemaObject, start: unknown): SchemaObject {
  let schema = start;
  for (let step = 0; step < longestChain; step++) {
    if (!isObject(schema)) return {};
    const pointer: unknown = schema["$ref"];
    if (typeof pointer !== "string") return schema;
    schema = valueAt(document, pointer);
  }
  throw notOpenApi("its references run in a circle");
}

function valueAt(document: SchemaObject, pointer: string): unknown {
  if (!pointer.startsWith("#/")) throw notOpenApi(`it refers to another file (${pointer})`);
  let value: unknown = document;
  for (const part of pointer.slice(2).split("/")) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (!isObject(value) || !Object.hasOwn(value, name))
      throw notOpenApi(`it refers to ${pointer}, which it lacks`);
    value = value[name];
  }
  return value;
}

function notOpenApi(why: string): MirrorError {
  return new MirrorError("usage", `this is not an OpenAPI 3 document that can be compared: ${why}`, {
    hint: "Give the vendor's reference as one file, YAML or JSON.",
  });
}
