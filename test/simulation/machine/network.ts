import { inspect } from "node:util";
import type { Pool } from "undici";
import type { Lane } from "../../../src/base/lane.ts";
import { Semaphore } from "../../../src/base/semaphore.ts";
import { transportDefaults } from "../../../src/connector/transport.ts";
import { parseBaseUrl, targetOf } from "../../../src/http/base-url.ts";
import { requestHeaders } from "../../../src/http/headers.ts";
import type { HttpTransport } from "../../../src/http/http-transport.ts";
import { createSafeText } from "../../../src/http/http-errors.ts";
import { attempt, HttpCounters, type Wire } from "../../../src/http/exchange.ts";
import type { RateLimiter } from "../../../src/rate-limit/permit.ts";
import type { SeededChoice } from "../../support/seeded-random.ts";
import type { ServiceReply } from "../service/service-types.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

const base = parseBaseUrl("https://simulated.example/v1");
/** Where requests take long, the service takes long: an aborted one reaches it soon, unless it strays. */
const longestWayMs = 300;
const givenUpMs = 45_000;
const longestStrayMs = 14_500;
const never = new AbortController().signal;
const nothing = () => undefined;
const noAnswer: Promise<never> = new Promise(() => undefined);

/** The engine's own way of making requests, over a network in simulated time. */
export function simulatedTransport(
  machine: SimulatedMachine,
  sender: SimulatedProcess,
  rateLimiter: RateLimiter,
): HttpTransport {
  const counters = new HttpCounters();
  const { concurrency, timeoutMs, maxResponseBytes } = transportDefaults;
  const wire: Omit<Wire, "pool"> = {
    base,
    rateLimiter,
    connections: new Semaphore(concurrency),
    clock: sender.clock,
    counters,
    protocol: {},
    accessTokens: null,
    safeText: createSafeText(sender.token),
    timeoutMs,
    maxResponseBytes,
  };
  const identity = { token: sender.token, language: "en", userAgent: "simulation" };
  return {
    stats: () => structuredClone(counters),
    close: async () => undefined,
    send: async (request) => {
      const { lane = "list" } = request;
      // Only `request` is used of it.
      const pool = { request: (options: Request) => exchange(machine, sender, { ...options, lane }) };
      const call = {
        ...request,
        where: `${request.method} ${request.path}`,
        target: targetOf(base, request),
        headers: requestHeaders(identity, request),
        body: null,
        lane,
        signal: request.signal ?? never,
        once: true,
      };
      try {
        return await attempt({ ...wire, pool: pool as unknown as Pool }, call);
      } catch (error) {
        machine.showError(inspect(error, { depth: 8 }));
        throw error;
      }
    },
  };
}

interface Request {
  readonly lane: Lane;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const tokenOf = ({ headers }: Request) => headers["authorization"]?.slice("Bearer ".length) ?? "";

interface Reply {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

/** The answer, unless the request is aborted first; a process that died hears neither. */
function exchange(machine: SimulatedMachine, sender: SimulatedProcess, request: Request): Promise<Reply> {
  const { signal } = request;
  return new Promise((resolve, reject) => {
    const stop = () => {
      if (sender.isAlive) reject(networkError("UND_ERR_ABORTED", "aborted"));
    };
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop);
    void travel(machine, sender, request)
      .then(resolve, (error: unknown) => {
        if (sender.isAlive) reject(error);
      })
      .finally(() => signal.removeEventListener("abort", stop));
  });
}

async function travel(machine: SimulatedMachine, sender: SimulatedProcess, request: Request): Promise<Reply> {
  const { time, choice, network } = machine;
  const { path, signal } = request;
  const token = tokenOf(request);
  const service = machine.tokens.serviceOf(token);
  if (!sender.passes("before a request")) return noAnswer;
  const sentAtMs = time.passedMs;
  const isOwn = service === machine.service;
  const watched = isOwn ? machine.budgetWatch.sent(sentAtMs) : null;
  const pathname = path.slice(base.path.length);
  const [route = "", search = ""] = pathname.split("?", 2);
  const asked = isOwn ? noteAsked(machine, route) : null;
  const latencyMs = latencyOf(machine);
  const kind = whatGoesWrong(network, choice.below(1_000_000) / 1_000_000);
  const thereMs = wayThereMs(machine, latencyMs);
  await time.sleep(thereMs);
  if (kind === "lost") {
    machine.note(`${route} is lost`);
    return noAnswer;
  }
  const answer = service.begin(route, new URLSearchParams(search));
  const { openedAt = 0, others = 0 } = service.limiter.windows.at(-1) ?? {};
  if (watched) machine.budgetWatch.counted(watched, service, request.lane !== "webhook");
  sender.passes("request in flight");
  const early = choice.probability(0.5) ? answer() : null;
  await time.sleep(latencyMs - thereMs);
  if (!sender.isAlive) return noAnswer;
  if (watched && kind !== "answerLost") machine.budgetWatch.ended(watched);
  const reply = withFault(machine, kind, { ...request, route }, early ?? answer());
  machine.note(`GET ${pathname} ${reply === null ? "no answer" : reply.status}`);
  if (reply?.status === 404 && route.startsWith("/contact-activity-logs/")) machine.denials += 1;
  if (reply === null || signal.aborted) return noAnswer;
  const requestId = reply.headers["X-Request-Id"] ?? null;
  if (asked) asked.requestId = requestId;
  if (isOwn && requestId !== null) machine.receivedAtMs.set(requestId, time.passedMs);
  if (watched && reply.headers["X-RateLimit-Remaining"] !== undefined)
    machine.budgetWatch.showed(openedAt, others, time.passedMs);
  if (!sender.passes("answer not applied")) return noAnswer;
  if (machine.busy === 0 && kind === null) noteRead(machine, sender, { route, sentAtMs }, reply);
  return replyOf(reply);
}

function wayThereMs({ network, choice }: SimulatedMachine, latencyMs: number): number {
  if (latencyMs >= givenUpMs) return latencyMs;
  const wayMs = latencyMs * (choice.below(100) / 100);
  return network.spreadMs > 0 || network.evenMs > 0 ? Math.min(wayMs, longestWayMs) : wayMs;
}

function latencyOf({ network: { slow, stray, spreadMs, evenMs }, choice }: SimulatedMachine): number {
  if (stray > 0 && choice.probability(stray)) return givenUpMs + choice.below(longestStrayMs);
  if (slow > 0 && choice.probability(slow)) return 2_000 + choice.below(40_000);
  if (evenMs > 0) return 30 + choice.below(evenMs);
  return spreadMs > 0 ? 30 + spreadMs * (choice.below(1_000) / 1_000) ** 3 : 30 + choice.below(200);
}

const wrongs = ["lost", "answerLost", "reset", "odd", "indiscreet"] as const;
type Wrong = (typeof wrongs)[number] | null;

function whatGoesWrong(network: SimulatedMachine["network"], at: number): Wrong {
  let share = 0;
  return wrongs.find((wrong) => at < (share += network[wrong])) ?? null;
}

/** What the process hears in place of the service's answer; null: nothing. */
function withFault(
  machine: SimulatedMachine,
  kind: Wrong,
  request: Request & { readonly route: string },
  reply: ServiceReply,
): ServiceReply | null {
  const { network, choice } = machine;
  if (kind === "answerLost") return null;
  if (kind === "reset") throw networkError("ECONNRESET", "read ECONNRESET");
  if (kind === "odd") return { ...reply, ...choice.one(oddAnswers)(reply) };
  const { route } = request;
  if (kind === "indiscreet") return indiscreetReply(machine, request, routeReply(machine, route, reply));
  const { proxy } = network;
  if (proxy > 0 && choice.probability(proxy)) return proxyReply(route, reply);
  return routeReply(machine, route, reply);
}

/** What the route itself answers: a broken one denies every record. */
function routeReply(machine: SimulatedMachine, route: string, reply: ServiceReply): ServiceReply {
  const { brokenRoute, breaksAfterMs } = machine.network;
  if (brokenRoute === null || !route.startsWith(`/${brokenRoute}/`)) return reply;
  const { passedMs } = machine.time;
  if (passedMs - (machine.workedAtMs.get(brokenRoute) ?? passedMs) < breaksAfterMs) {
    if (reply.status === 200) machine.workedAtMs.set(brokenRoute, passedMs);
    return reply;
  }
  const [, table = "", id = ""] = route.split("/");
  machine.deniedAtMs.set(`${table.replaceAll("-", "_")} ${id}`, passedMs);
  return { ...reply, ...failing(404, "No query results for model.")(reply) };
}

/** What a proxy in front of the service answers on some routes. */
function proxyReply(route: string, reply: ServiceReply): ServiceReply {
  if (/\/\d+$/.test(route))
    return { status: 404, headers: { "Content-Type": "text/html" }, body: "<h1>Not found</h1>" };
  return route === "/units" && reply.status === 200 ? { ...reply, body: '{"data":[]}' } : reply;
}

/** The network's own errors may hold the request. */
function indiscreetReply(machine: SimulatedMachine, request: Request, reply: ServiceReply): ServiceReply {
  const { choice } = machine;
  if (choice.probability(0.1))
    throw Object.assign(networkError("EODD", `broken: ${JSON.stringify(request.headers)}`), { request });
  return {
    ...reply,
    ...choice.one(indiscretions)(reply, { path: request.path, token: tokenOf(request), choice }),
  };
}

interface Asked {
  readonly path: string;
  readonly token: string;
  readonly choice: SeededChoice;
}

/** Gives what is other than in the service's own answer. */
type Odd = (reply: ServiceReply, asked: Asked) => Partial<ServiceReply>;

function failing(status: number, message: string, more: Readonly<Record<string, string>> = {}) {
  return ({ headers }: Pick<ServiceReply, "headers">) => {
    return { status, headers: { ...headers, ...more }, body: JSON.stringify({ message }) };
  };
}

/** Answers other than the service's own: errors of the interface, and what stands in for an answer now and then. */
const oddAnswers: readonly ((reply: ServiceReply) => Partial<ServiceReply>)[] = [
  failing(500, "Server Error"),
  failing(500, "Server Error"),
  failing(503, "Service Unavailable"),
  failing(503, "Service Unavailable", { "Retry-After": "7" }),
  failing(403, "This action is unauthorized."),
  failing(422, "The given data was invalid."),
  () => ({ status: 200, headers: { "Content-Type": "text/html" }, body: "<h1>Soon</h1>" }),
  ({ body }) => ({ body: body.slice(0, body.length >> 1) }),
  () => ({ status: 200, body: "" }),
  () => ({ status: 204, headers: {}, body: "" }),
  () => ({ body: '{"data":{"id":1}}' }),
];

const elsewhere = "https://elsewhere.example";

/** Errors that repeat the token, redirects to another origin, answers without a request id. */
const indiscretions: readonly Odd[] = [
  saying(({ token }) => `Authorization: Bearer ${token}`),
  // At the edge of where a long text is cut.
  saying(({ token, choice }) => ".".repeat(270 + choice.below(30)) + token),
  saying(({ token }) => `no such token: ${token.split("|")[1]}`),
  (_, { token }) => ({ status: 422, body: JSON.stringify({ message: "No.", errors: { [token]: [token] } }) }),
  ({ headers }, { token }) => ({ headers: { ...headers, "Content-Type": `text/${token}` } }),
  ({ headers }, { token }) => ({ status: 500, headers: { ...headers, "X-Request-Id": token }, body: "{}" }),
  ({ headers }) => ({ headers: { "Content-Type": headers["Content-Type"] ?? "" } }),
  ({ headers }, { path }) => ({ status: 307, headers: { ...headers, Location: elsewhere + path }, body: "" }),
];

function saying(textOf: (asked: Asked) => string): Odd {
  return (_, asked) => ({
    status: asked.choice.one([403, 422, 500, 503]),
    body: JSON.stringify({ message: textOf(asked) }),
  });
}

function networkError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function replyOf({ status, headers, body }: ServiceReply): Reply {
  const bytes = Buffer.from(body);
  async function* chunks() {
    yield bytes;
  }
  const stream = { [Symbol.asyncIterator]: chunks, on: nothing, destroy: nothing };
  return {
    statusCode: status,
    headers: { ...headers, "content-length": String(bytes.length) },
    body: stream,
  };
}

/** Lists that show whole records, and the routes of these records. */
const wholeRecords = /^\/(clients|business-cases|contact-activity-logs)(?:\/(\d+))?$/;

/** A request is sent: gives what its answer is noted in, where it is about one record. */
function noteAsked({ asked, time }: SimulatedMachine, route: string): { requestId: string | null } | null {
  const [, table = "", id = ""] = /^\/([a-z-]+)\/(\d+)$/.exec(route) ?? [];
  if (id === "") return null;
  const key = `${table.replaceAll("-", "_")} ${id}`;
  const one = { sentAtMs: time.passedMs, requestId: null };
  asked.set(key, [...(asked.get(key) ?? []), one]);
  return one;
}

/** An answer came, and can be applied at once: notes it, where it is about whole records. */
function noteRead(
  { reads, time }: SimulatedMachine,
  sender: object,
  sent: { readonly route: string; readonly sentAtMs: number },
  { status, headers, body }: ServiceReply,
): void {
  const [, name, id] = wholeRecords.exec(sent.route) ?? [];
  const requestId = headers["X-Request-Id"];
  if (name === undefined || requestId === undefined) return;
  const table = name.replaceAll("-", "_");
  const records = status === 200 ? recordsIn(body) : [];
  const ids = id !== undefined ? [id] : records.map((one) => one.id);
  const shown = new Map(ids.map((one, i) => [`${table} ${one}`, records[i] ?? null]));
  const times = { sentAtMs: sent.sentAtMs, receivedAtMs: time.passedMs };
  reads.push({ process: sender, ...times, isMissing: status === 404, requestId, shown });
}

/** A list has them in `data`. */
function recordsIn(body: string): readonly { readonly id: number }[] {
  const content = JSON.parse(body) as { readonly id: number; readonly data?: { readonly id: number }[] };
  return content.data ?? [content];
}
