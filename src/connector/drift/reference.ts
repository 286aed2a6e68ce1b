import { MirrorError } from "../../base/errors.ts";
import { isObject } from "../../json/literal.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** A published OpenAPI document, read with care: it is somebody's file and may be anything. */
export interface Reference {
  readonly operations: ReadonlyMap<string, PublishedOperation>;
  /** What a schema is, or points to. */
  readonly resolve: (schema: unknown) => JsonObject;
}

export interface PublishedOperation {
  readonly method: string;
  readonly path: string;
  readonly facts: JsonObject;
  /** Of the path and of the operation, which wins; resolved. */
  readonly parameters: readonly JsonObject[];
}

const methods = ["get", "post", "put", "patch", "delete"] as const;

export function readReference(document: unknown): Reference {
  const paths = isObject(document) ? document["paths"] : undefined;
  if (!isObject(document) || !isObject(paths)) throw notOpenApi("it has no paths");
  const version = document["openapi"];
  if (typeof version !== "string" || !version.startsWith("3.")) {
    throw notOpenApi("it does not say openapi: 3.x");
  }
  const resolve = (schema: unknown) => resolveIn(document, schema);
  const operations = new Map<string, PublishedOperation>();
  for (const [path, item] of Object.entries(paths)) {
    for (const one of operationsAt(path, resolve(item), resolve))
      operations.set(keyOf(one.method, path), one);
  }
  return { operations, resolve };
}

/** Parameters are compared on their own; `/clients/{client}` and `/clients/{id}` are one route. */
export function keyOf(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.replace(/\{[^}]*\}/g, "{}")}`;
}

function operationsAt(path: string, item: JsonObject, resolve: Reference["resolve"]): PublishedOperation[] {
  return methods
    .filter((method) => isObject(item[method]))
    .map((method) => {
      const facts = objectAt(item, method);
      const parameters = new Map<string, JsonObject>();
      for (const one of [...arrayAt(item, "parameters"), ...arrayAt(facts, "parameters")].map(resolve)) {
        parameters.set(`${String(one["in"])} ${String(one["name"])}`, one);
      }
      return { method: method.toUpperCase(), path, facts, parameters: [...parameters.values()] };
    });
}

const longestChain = 32;

function resolveIn(document: JsonObject, start: unknown): JsonObject {
  let schema = start;
  for (let step = 0; step < longestChain; step++) {
    if (!isObject(schema)) return {};
    const pointer = schema["$ref"];
    if (typeof pointer !== "string") return schema;
    schema = at(document, pointer);
  }
  throw notOpenApi("its references run in a circle");
}

function at(document: JsonObject, pointer: string): unknown {
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

export function objectAt(object: JsonObject, name: string): JsonObject {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return isObject(value) ? value : {};
}

export function arrayAt(object: JsonObject, name: string): readonly unknown[] {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return Array.isArray(value) ? value : [];
}
