import { MirrorError } from "../../base/errors.ts";
import { isObject } from "../../json/literal.ts";

/** An object of a JSON document. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A published OpenAPI document. Every part of it may be anything. */
export interface Reference {
  /** By `routeKey`. */
  readonly operations: ReadonlyMap<string, PublishedOperation>;
  /** Follows `$ref`; an empty object for anything but an object. Throws MirrorError `usage` for a broken one. */
  readonly resolve: (schema: unknown) => JsonObject;
}

/** One operation of the document. */
export interface PublishedOperation {
  readonly method: string;
  readonly path: string;
  readonly facts: JsonObject;
  /** Of the path and of the operation, which wins; resolved. */
  readonly parameters: readonly JsonObject[];
}

const methods = ["get", "post", "put", "patch", "delete"] as const;

/** Reads a parsed OpenAPI 3 document. Throws MirrorError `usage` for anything else. */
export function readReference(document: unknown): Reference {
  const paths = isObject(document) ? document["paths"] : undefined;
  if (!isObject(document) || !isObject(paths)) throw notOpenApi("it has no paths");
  const version: unknown = document["openapi"];
  if (typeof version !== "string" || !version.startsWith("3."))
    throw notOpenApi("it does not say openapi: 3.x");
  const resolve = (schema: unknown) => resolveIn(document, schema);
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    operationsAt(path, resolve(item), resolve),
  );
  return { operations: new Map(operations.map((one) => [routeKey(one.method, one.path), one])), resolve };
}

/** `GET /clients/{}`: the names of parameters do not matter, `/clients/{client}` and `/clients/{id}` are one route. */
export function routeKey(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, "{}")}`;
}

function operationsAt(path: string, item: JsonObject, resolve: Reference["resolve"]): PublishedOperation[] {
  return methods
    .filter((method) => isObject(item[method]))
    .map((method) => {
      const facts = objectAt(item, method);
      const all = [...arrayAt(item, "parameters"), ...arrayAt(facts, "parameters")].map(resolve);
      const parameters = new Map(all.map((one) => [`${String(one["in"])} ${String(one["name"])}`, one]));
      return { method: method.toUpperCase(), path, facts, parameters: [...parameters.values()] };
    });
}

const longestChain = 32;

function resolveIn(document: JsonObject, start: unknown): JsonObject {
  let schema = start;
  for (let step = 0; step < longestChain; step++) {
    if (!isObject(schema)) return {};
    const pointer: unknown = schema["$ref"];
    if (typeof pointer !== "string") return schema;
    schema = valueAt(document, pointer);
  }
  throw notOpenApi("its references run in a circle");
}

function valueAt(document: JsonObject, pointer: string): unknown {
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

/** The object under a name; empty when there is none. */
export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return isObject(value) ? value : {};
}

/** The list under a name; empty when there is none. */
export function arrayAt(object: JsonObject, name: string): readonly unknown[] {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return Array.isArray(value) ? value : [];
}
