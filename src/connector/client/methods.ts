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
  const caller: Caller = (operation, call) => callOperation(transport, random, operation, call);
  const methods = Object.entries(group).map(([name, operation]) => [
    name,
    async (...args: unknown[]) => caller(operation, parseArguments(operation, args)),
  ]);
  const { list } = group;
  const paging = list?.answer.kind === "list" && list.answer.paged ? pagingOf(list, caller) : {};
  return { ...Object.fromEntries(methods), ...paging } as Methods<G>;
}

/** Calls one operation, also one from a manifest. */
export async function callOperation(
  transport: Transport,
  random: Random,
  operation: Operation,
  call: Call,
): Promise<unknown> {
  return readAnswer(operation, await transport.send(buildRequest(operation, call, random)));
}

type Caller = (operation: Operation, call: Call) => Promise<unknown>;

function pagingOf(list: Operation, caller: Caller) {
  async function* pages(...args: unknown[]) {
    const call = parseArguments(list, args);
    const query = { perPage: largestPage(list), ...(call.query as { page?: number } | undefined) };
    const read = (page: number) =>
      caller(list, { ...call, query: { ...query, page } }) as Promise<Page<unknown>>;
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
