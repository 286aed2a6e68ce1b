import type { z } from "zod";
import type { RecordId } from "../../base/ids.ts";
import type { Lane } from "../../base/lane.ts";
import type { Operation } from "../operation.ts";
import type { ListPage } from "./page.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly lane?: Lane;
}

export interface IdempotentOptions extends CallOptions {
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

/** Reads a list in pages to its end. */
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
