import type { JsonObject } from "../base/values.ts";

/** What a route answers, before it becomes bytes: faults may still rewrite single records of it. */
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
  | {
      readonly kind: "file";
      readonly mediaType: string;
      readonly fileName: string;
      readonly content: Buffer;
    };

export function record(view: JsonObject, status = 200): Answer {
  return { status, body: { kind: "record", record: view } };
}

export function list(records: Iterable<JsonObject>, paginator?: JsonObject): Answer {
  return { status: 200, body: paginator ? { kind: "list", records, paginator } : { kind: "list", records } };
}

export function value(body: JsonObject, status = 200): Answer {
  return { status, body: { kind: "value", value: body } };
}

export function nothing(status = 204): Answer {
  return { status, body: { kind: "nothing" } };
}

export function file(mediaType: string, fileName: string, content: Buffer): Answer {
  return { status: 200, body: { kind: "file", mediaType, fileName, content } };
}

export function error(status: number, message: string): Answer {
  return value({ message }, status);
}
