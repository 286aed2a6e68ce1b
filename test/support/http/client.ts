import { createClient, type FintoroClient } from "../../../connectors/fintoro/client/client.ts";
import { seededRandom } from "../seeded-random.ts";
import type { ServiceAnswer, ServiceRequest, Transport } from "../../../src/connector/transport.ts";

/** An answer of the service as the transport returns it. */
export function answer(body: unknown, more: Partial<ServiceAnswer> = {}): ServiceAnswer {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status: 200, body: Buffer.isBuffer(body) ? body : Buffer.from(text), requestId: "req_7", ...more };
}

/** Fits every operation: an object, with an empty list for those that want one. */
const emptyPage = { data: [], paginator: { currentPage: 1, totalPages: 1, totalResults: 0 } };

type Answering = (request: ServiceRequest) => ServiceAnswer | Promise<ServiceAnswer>;

/** A client over a transport that sends nothing and remembers what it was asked to. */
export function recordingClient(answering: Answering = () => answer(emptyPage)) {
  const sent: ServiceRequest[] = [];
  const transport: Transport = {
    send: async (request) => {
      sent.push(request);
      return answering(request);
    },
  };
  return { client: createClient(transport, { random: seededRandom(1) }), sent };
}

/** Pages of invoices by number; records are their ids. */
export function pagesOfIds(pages: readonly (readonly number[])[], totalPages = pages.length): Answering {
  return ({ query }) => {
    const currentPage = Number(query?.["page"]);
    const data = (pages[currentPage - 1] ?? []).map((id) => ({ id }));
    return answer({ data, paginator: { currentPage, totalPages, nextPageUrl: "https://evil.example/next" } });
  };
}

export async function collect<T>(records: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const one of records) all.push(one);
  return all;
}

type AnyMethod = (...args: unknown[]) => Promise<unknown>;
type AnyGroup = Readonly<Record<string, unknown>>;

export function callOf(client: FintoroClient, operation: string, args: readonly unknown[]): Promise<unknown> {
  const [group = "", name = ""] = operation.split(".");
  const methods = group === "token" ? client : (client as unknown as Record<string, AnyGroup>)[group];
  return (methods as Record<string, AnyMethod>)[name]?.(...args) ?? Promise.reject(new Error("no method"));
}
