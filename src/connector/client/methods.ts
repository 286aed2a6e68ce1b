import { inspect } from "node:util";
import { z } from "zod";
import { messageOf, MirrorError } from "../../base/errors.ts";
import { nearest } from "../../base/names.ts";
import type { Random } from "../../base/random.ts";
import { integerOf, isObject, NumberLiteral, type JsonValue } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import type { Operation } from "../operation.ts";
import { ProtocolError } from "../service-errors.ts";
import type { QueryValue, ServiceAnswer, ServiceRequest, Transport } from "../transport.ts";
import { readPages, type ListPage } from "./page.ts";
import type { RecordId } from "../../base/ids.ts";
import type { Lane } from "../../base/lane.ts";

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly lane?: Lane;
}

interface IdempotentOptions extends CallOptions {
  /** Generated when not given. Give the same again to repeat a call with an unknown outcome. */
  readonly idempotencyKey?: string;
}

/** The parts of a method's signature follow from its operation: `/invoices/{invoice}` takes an id, a body its input. */
type IdOf<P> = P extends `${string}{${string}}${string}` ? [id: RecordId] : [];

/** Methods do not change what they are given, so it may be read-only. */
type ReadOnlyInput<T> = T extends Blob
  ? T
  : T extends readonly (infer E)[]
    ? readonly ReadOnlyInput<E>[]
    : T extends object
      ? { readonly [K in keyof T]: ReadOnlyInput<T[K]> }
      : T;

type InputOf<O> = O extends { readonly body: infer B extends z.ZodObject }
  ? [input: ReadOnlyInput<z.input<B>>]
  : [];

type QueryOf<O> = O extends { readonly query: infer Q extends z.ZodObject }
  ? Partial<z.input<Q>> extends z.input<Q>
    ? [query?: z.input<Q>]
    : [query: z.input<Q>]
  : [];

type OptionsOf<O> = O extends { readonly idempotent: true } ? IdempotentOptions : CallOptions;

type Arguments<O extends Operation> = [
  ...IdOf<O["path"]>,
  ...InputOf<O>,
  ...QueryOf<O>,
  options?: OptionsOf<O>,
];

type RecordOfAnswer<A> = A extends { readonly schema: infer S extends z.ZodObject } ? z.output<S> : never;

type AnswerOf<A> = A extends { readonly kind: "record" }
  ? RecordOfAnswer<A>
  : A extends { readonly kind: "list"; readonly paged: true }
    ? ListPage<RecordOfAnswer<A>>
    : A extends { readonly kind: "list" }
      ? readonly RecordOfAnswer<A>[]
      : A extends { readonly kind: "file" }
        ? Buffer
        : void;

type MethodOf<O extends Operation> = (...args: Arguments<O>) => Promise<AnswerOf<O["answer"]>>;

interface Paging<O extends Operation> {
  /** Page after page; `perPage` is the largest possible unless given. */
  readonly pages: (
    ...args: Arguments<O>
  ) => AsyncGenerator<ListPage<RecordOfAnswer<O["answer"]>>, void, undefined>;
  readonly all: (...args: Arguments<O>) => AsyncGenerator<RecordOfAnswer<O["answer"]>, void, undefined>;
}

type PagedList = { readonly answer: { readonly kind: "list"; readonly paged: true } };

export type Methods<G> = {
  readonly [K in keyof G]: G[K] extends Operation ? MethodOf<G[K]> : never;
} & (G extends { readonly list: infer L extends Operation & PagedList } ? Paging<L> : unknown);

interface CallArguments {
  readonly id?: unknown;
  readonly input?: unknown;
  readonly query?: unknown;
  readonly options?: IdempotentOptions;
}

/** A group of operations as typed methods over a transport. */
export function methodsOf<G extends Readonly<Record<string, Operation>>>(
  group: G,
  transport: Transport,
  random: Random,
): Methods<G> {
  const caller: Caller = (operation, given) => callOperation(transport, random, operation, given);
  const methods = Object.entries(group).map(([name, operation]) => [
    name,
    async (...args: unknown[]) => caller(operation, parseArguments(operation, args)),
  ]);
  const { list } = group;
  const paging = list?.answer.kind === "list" && list.answer.paged ? pagingOf(list, caller) : {};
  return { ...Object.fromEntries(methods), ...paging } as Methods<G>;
}

/**
 * Calls one operation, also one from a declaration. Throws MirrorError `usage` that names the wrong argument before a
 * request is spent on it, and a ProtocolError for an answer that is no object, or a list without its records.
 */
export async function callOperation(
  transport: Transport,
  random: Random,
  operation: Operation,
  given: CallArguments,
): Promise<unknown> {
  return readAnswer(operation, await transport.send(requestOf(operation, given, random)));
}

type Caller = (operation: Operation, given: CallArguments) => Promise<unknown>;

function pagingOf(list: Operation, caller: Caller) {
  async function* pages(...args: unknown[]) {
    const call = parseArguments(list, args);
    const query = { perPage: largestPage(list), ...(call.query as { page?: number } | undefined) };
    const read = (page: number) =>
      caller(list, { ...call, query: { ...query, page } }) as Promise<ListPage<unknown>>;
    yield* readPages(read, query.page ?? 1);
  }
  async function* all(...args: unknown[]) {
    for await (const page of pages(...args)) yield* page.data;
  }
  return { pages, all };
}

/** As published; undefined without a limit, then the service's default applies. */
function largestPage(list: Operation): number | undefined {
  const perPage: unknown = list.query?.shape["perPage"];
  const type = perPage instanceof z.ZodOptional ? perPage.unwrap() : perPage;
  return type instanceof z.ZodNumber ? (type.maxValue ?? undefined) : undefined;
}

/** Assigns the arguments by what the operation takes: id, input, query, options. */
function parseArguments(operation: Operation, args: readonly unknown[]): CallArguments {
  const rest = [...args];
  const id = operation.path.includes("{") ? rest.shift() : undefined;
  const input = operation.body ? rest.shift() : undefined;
  const query = operation.query ? rest.shift() : undefined;
  return { id, input, query, options: rest.shift() ?? {} };
}

const expectation = { record: "json", list: "json", file: "bytes", nothing: "nothing" } as const;

function requestOf(operation: Operation, given: CallArguments, random: Random): ServiceRequest {
  const { method, path, answer } = operation;
  const { lane, signal, idempotencyKey } = given.options ?? {};
  return {
    method,
    path: path.replace(/\{[^}]+\}/, () => encodeURIComponent(String(checkedId(operation, given.id)))),
    query: queryFor(operation, given.query),
    idempotencyKey: keyFor(operation, idempotencyKey, random),
    ...bodyFor(operation, given.input),
    expect: expectation[answer.kind],
    lane,
    signal,
  };
}

function checkedId({ name }: Operation, id: unknown): number | bigint {
  if (typeof id === "bigint" && id >= 0n) return id;
  if (typeof id === "number" && Number.isSafeInteger(id) && id >= 0) return id;
  throw new MirrorError("usage", `${name}: the id must be a whole number, not ${inspect(id)}`, {
    hint: "Ids beyond 2^53 are given as bigint.",
  });
}

/** `null` asks for records without a value; in a query string that is an empty one. */
function queryFor({ name, query: type }: Operation, query: unknown): Record<string, QueryValue> | undefined {
  if (!type) return undefined;
  const given = Object.entries(checkInput(name, type, query ?? {})).filter(
    ([, value]) => value !== undefined,
  );
  return Object.fromEntries(given.map(([key, value]) => [key, (value ?? "") as QueryValue]));
}

function bodyFor({ name, body, bodyType }: Operation, input: unknown): Pick<ServiceRequest, "json" | "form"> {
  if (!body) return {};
  const fields = checkInput(name, body, input);
  if (bodyType !== "multipart") return { json: fields };
  const form = new FormData();
  for (const [field, value] of Object.entries(fields))
    for (const part of Array.isArray(value) ? value : [value]) form.append(field, part as File);
  return { form };
}

/** Always sent where the service accepts one: only then may a write be repeated. */
function keyFor({ name, idempotent }: Operation, given: string | undefined, random: Random) {
  if (given === undefined) return idempotent ? random.uuid() : undefined;
  if (idempotent && /^[\x21-\x7e]{1,255}$/.test(given)) return given;
  const why = idempotent
    ? "an Idempotency-Key is 1 to 255 visible ASCII characters"
    : "the service takes no Idempotency-Key here";
  throw new MirrorError("usage", `${name}: ${why}`);
}

/** Throws MirrorError `usage` that names the field. */
function checkInput(call: string, type: z.ZodObject, value: unknown): Readonly<Record<string, unknown>> {
  const result = type.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (!issue) throw new MirrorError("usage", `${call}: the input is not valid`);
  const { path, message } = issue;
  if (issue.code !== "unrecognized_keys") {
    const at = path.length > 0 ? `${z.core.toDotPath(path)}: ` : "";
    throw new MirrorError("usage", `${call}: ${at}${message}`);
  }
  const unknown = issue.keys.map((key) => z.core.toDotPath([...path, key])).join(", ");
  const meant = path.length > 0 ? undefined : nearest(issue.keys[0] ?? "", Object.keys(type.shape));
  const hint = meant === undefined ? undefined : `Did you mean ${meant}?`;
  throw new MirrorError("usage", `${call}: unknown field ${unknown}`, { hint });
}

/** The content of an answer. Missing and odd fields are passed on. */
function readAnswer(operation: Operation, answer: ServiceAnswer): unknown {
  const expected = operation.answer;
  if (expected.kind === "nothing") return undefined;
  if (expected.kind === "file") return answer.body;
  const unusable = (what: string, cause?: unknown) => {
    const { status, requestId } = answer;
    const message = `${operation.name}: the answer to ${operation.method} ${operation.path} ${what}`;
    return new ProtocolError(message, { status, requestId, cause });
  };
  let content: unknown;
  try {
    content = withPlainNumbers(parseLossless(answer.body));
  } catch (error) {
    throw unusable(`is not JSON (${messageOf(error)})`, error);
  }
  if (!isObject(content)) throw unusable("is no object");
  if (expected.kind === "record") return content;
  const { data, paginator } = content;
  if (!Array.isArray(data)) throw unusable("has no data array");
  if (!data.every(isObject)) throw unusable("has something else than records in data");
  if (!expected.paged) return data;
  if (!isObject(paginator)) throw unusable("has no paginator");
  return content;
}

/** A whole number beyond 2^53 becomes a bigint, so that an id stays exact; any other becomes the nearest double. */
function withPlainNumbers(value: JsonValue): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof NumberLiteral) return integerOf(value) ?? Number(value.text);
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withPlainNumbers(one)]));
}
