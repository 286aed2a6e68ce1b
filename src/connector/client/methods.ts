import { z } from "zod";
import type { Random } from "../../base/random.ts";
import { buildRequest, parseArguments, type Call } from "./call.ts";
import type { Methods } from "./call-types.ts";
import type { Operation } from "../operation.ts";
import { readPages, type Page } from "./page.ts";
import { readAnswer } from "./answer-reader.ts";
import type { Transport } from "../transport.ts";

/** A group of operations as typed methods over a transport. */
export function methodsOf<G extends Readonly<Record<string, Operation>>>(
  group: G,
  transport: Transport,
  random: Random,
): Methods<G> {
  const caller = callerOver(transport, random);
  const methods = Object.entries(group).map(([name, operation]) => [
    name,
    async (...args: unknown[]) => caller(operation, parseArguments(operation, args)),
  ]);
  const { list } = group;
  const paging = list && isPaged(list) ? pagingOf(list, caller) : {};
  return { ...Object.fromEntries(methods), ...paging } as Methods<G>;
}

/** Calls one operation, for callers that have it from a manifest. */
export async function callOperation(
  transport: Transport,
  random: Random,
  operation: Operation,
  call: Partial<Call> = {},
): Promise<unknown> {
  const nothing: Call = { id: undefined, input: undefined, query: undefined, options: {} };
  return callerOver(transport, random)(operation, { ...nothing, ...call });
}

type Caller = (operation: Operation, call: Call) => Promise<unknown>;

function callerOver(transport: Transport, random: Random): Caller {
  return async (operation, call) =>
    readAnswer(operation, await transport.send(buildRequest(operation, call, random)));
}

function isPaged(operation: Operation): boolean {
  return operation.answer.kind === "list" && operation.answer.paged;
}

function pagingOf(list: Operation, caller: Caller) {
  const pages = (...args: unknown[]) => {
    const call = parseArguments(list, args);
    const query = { perPage: largestPage(list), ...(call.query as object | undefined) };
    const first = "page" in query && typeof query.page === "number" ? query.page : 1;
    const read = (page: number) =>
      caller(list, { ...call, query: { ...query, page } }) as Promise<Page<unknown>>;
    return readPages(read, first);
  };
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
