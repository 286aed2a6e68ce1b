import type { JsonObject } from "../base/values.ts";

/** What a route answers, before it becomes bytes: faults can still change single records of it. */
export interface Answer {
  readonly status: number;
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>>;
}

type Body =
  | { readonly kind: "nothing" }
  | { readonly kind: "value"; readonly value: JsonObject }
  | { readonly kind: "record"; readonly record: JsonObject }
  | { readonly kind: "list"; readonly records: Iterable<JsonObject>; readonly paginator?: JsonObject }
  | { readonly kind: "file"; readonly mediaType: string; readonly name: string; readonly content: Buffer };

/** One record; faults that change records apply to it. */
export function record(view: JsonObject, status = 200): Answer {
  return { status, body: { kind: "record", record: view } };
}

/** `{ data, paginator }`, or `{ data }` where the list has no pages. */
export function list(records: Iterable<JsonObject>, paginator?: JsonObject): Answer {
  return { status: 200, body: paginator ? { kind: "list", records, paginator } : { kind: "list", records } };
}

/** JSON that is no record, so that no fault changes it. */
export function value(body: JsonObject, status = 200): Answer {
  return { status, body: { kind: "value", value: body } };
}

/** No body. */
export function nothing(status = 204): Answer {
  return { status, body: { kind: "nothing" } };
}

/** A download under a file name. */
export function file(mediaType: string, name: string, content: Buffer): Answer {
  return { status: 200, body: { kind: "file", mediaType, name, content } };
}

/** A refusal in the service's form: `{ message }`. */
export function error(status: number, message: string): Answer {
  return value({ message }, status);
}
