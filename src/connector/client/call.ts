import { inspect } from "node:util";
import { z } from "zod";
import { MirrorError } from "../../base/errors.ts";
import type { RecordId } from "../../base/ids.ts";
import { nearest } from "../../base/names.ts";
import type { Random } from "../../base/random.ts";
import type { IdempotentOptions } from "./call-types.ts";
import type { Operation } from "../operation.ts";
import type { QueryValue, ServiceRequest } from "../transport.ts";

/** The arguments of a method. */
export interface Call {
  readonly id?: unknown;
  readonly input?: unknown;
  readonly query?: unknown;
  readonly options?: IdempotentOptions;
}

/** Assigns the arguments by what the operation takes: id, input, query, options. */
export function parseArguments(operation: Operation, args: readonly unknown[]): Call {
  const rest = [...args];
  const id = operation.path.includes("{") ? rest.shift() : undefined;
  const input = operation.body ? rest.shift() : undefined;
  const query = operation.query ? rest.shift() : undefined;
  return { id, input, query, options: rest.shift() ?? {} };
}

/** The request of a call. Throws MirrorError `usage` that names the wrong argument. */
export function buildRequest(operation: Operation, call: Call, random: Random): ServiceRequest {
  const { lane, signal, idempotencyKey } = call.options ?? {};
  const key = keyFor(operation, idempotencyKey, random);
  return {
    method: operation.method,
    path: pathFor(operation, call.id),
    query: queryFor(operation, call.query),
    headers: key === undefined ? undefined : { "Idempotency-Key": key },
    ...bodyFor(operation, call.input),
    expect: expectation[operation.answer.kind],
    repeatable: operation.method === "GET" || key !== undefined,
    lane,
    signal,
  };
}

const expectation = { record: "json", list: "json", file: "bytes", nothing: "nothing" } as const;

function pathFor(operation: Operation, id: unknown): string {
  return operation.path.replace(/\{[^}]+\}/, () => encodeURIComponent(String(checkedId(operation, id))));
}

function checkedId(operation: Operation, id: unknown): RecordId {
  if (typeof id === "bigint" && id >= 0n) return id;
  if (typeof id === "number" && Number.isSafeInteger(id) && id >= 0) return id;
  throw new MirrorError("usage", `${operation.name}: the id must be a whole number, not ${inspect(id)}`, {
    hint: "Ids beyond 2^53 are given as bigint.",
  });
}

/** `null` asks for records without a value; in a query string that is an empty one. */
function queryFor(operation: Operation, query: unknown): Record<string, QueryValue> | undefined {
  if (!operation.query) return undefined;
  const checked = checkInput(operation.name, operation.query, query ?? {});
  const given = Object.entries(checked).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, (value ?? "") as QueryValue]));
}

function bodyFor(operation: Operation, input: unknown): Pick<ServiceRequest, "json" | "form"> {
  if (!operation.body) return {};
  const checked = checkInput(operation.name, operation.body, input);
  return operation.bodyType === "multipart" ? { form: formOf(checked) } : { json: checked };
}

function formOf(fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    for (const part of Array.isArray(value) ? value : [value]) form.append(name, part as File);
  }
  return form;
}

/** Always sent where the service accepts one: only then may a write be repeated. */
function keyFor(operation: Operation, given: string | undefined, random: Random): string | undefined {
  if (given === undefined) return operation.idempotent ? random.uuid() : undefined;
  if (operation.idempotent && /^[\x21-\x7e]{1,255}$/.test(given)) return given;
  const why = operation.idempotent
    ? "an Idempotency-Key is 1 to 255 visible ASCII characters"
    : "the service takes no Idempotency-Key here";
  throw new MirrorError("usage", `${operation.name}: ${why}`);
}

type Issue = z.core.$ZodIssue;

/** Checks an input before a request is spent on it. Throws MirrorError `usage` that names the field. */
function checkInput(call: string, type: z.ZodObject, value: unknown): Readonly<Record<string, unknown>> {
  const result = type.safeParse(value);
  if (result.success) return result.data;
  const [first] = result.error.issues;
  throw new MirrorError("usage", `${call}: ${first ? describe(first) : "the input is not valid"}`, {
    hint: first ? hintFor(first, type) : undefined,
  });
}

function describe(issue: Issue): string {
  const { path, message } = issue;
  if (issue.code === "unrecognized_keys")
    return `unknown field ${issue.keys.map((key) => z.core.toDotPath([...path, key])).join(", ")}`;
  return path.length > 0 ? `${z.core.toDotPath(path)}: ${message}` : message;
}

function hintFor(issue: Issue, type: z.ZodObject): string | undefined {
  if (issue.code !== "unrecognized_keys" || issue.path.length > 0) return undefined;
  const meant = nearest(issue.keys[0] ?? "", Object.keys(type.shape));
  return meant === undefined ? undefined : `Did you mean ${meant}?`;
}
