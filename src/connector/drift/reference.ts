import { MirrorError } from "../../base/errors.ts";
import { isObject } from "../../json/literal.ts";
import { arrayAt, objectAt, schemaPlace, type SchemaObject, type Place, type Resolve } from "./place.ts";

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
