import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { closeAll, listen } from "../http/loopback.ts";
import type { Sandbox } from "../sandbox/control.ts";

interface Asked {
  /** From 1, in the order of arrival. */
  readonly n: number;
  readonly method: string;
  /** Below the base URL, with the query. */
  readonly target: string;
  /** The same without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
}

/** What the service answered, or what is to be answered in its place. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The service behind the proxy. What nothing alters it answers itself: that takes a fifth off the work of a run. */
type Upstream = Pick<Sandbox, "url" | "answer">;

const uncompressed = { "accept-encoding": "identity" };

export type Breakage = "reset" | "half" | "hang";

/**
 * Stands in the way of a request. `passOn` asks the service; what comes back may be altered. Undefined
 * leaves the request to the next one in the way.
 */
export type Obstacle = (
  asked: Asked,
  passOn: () => Promise<Reply>,
) => Promise<Reply | Breakage | undefined> | Reply | Breakage | undefined;

/** A loopback proxy before the sandbox: it sees every request and may put anything in the way of it. */
export async function startProxy(service: Upstream) {
  const asked: Asked[] = [];
  let obstacles: Obstacle[] = [];
  let inFlight = 0;
  const { pathname: base, host } = new URL(service.url);
  const letThrough = (request: IncomingMessage, response: ServerResponse) => {
    Object.assign(request.headers, { host, ...uncompressed });
    service.answer(request, response);
  };
  const server = createServer({ noDelay: true }, (request, response) => {
    inFlight += 1;
    response.on("close", () => (inFlight -= 1));
    const one = askedOf(request, base, asked.length + 1);
    asked.push(one);
    const passOn = () => askService(service.url, one);
    firstReply(obstacles, one, passOn).then(
      (reply) => (reply === undefined ? letThrough(request, response) : answer(response, reply)),
      () => response.destroy(),
    );
  });
  return {
    baseUrl: `http://127.0.0.1:${await listen(server)}${base}`,
    asked: asked as readonly Asked[],
    /** Requests whose answer has not left yet. */
    inFlight: () => inFlight,
    /** Returns the function that takes it away again. */
    obstruct: (obstacle: Obstacle) => {
      obstacles.push(obstacle);
      return () => (obstacles = obstacles.filter((other) => other !== obstacle));
    },
    clear: () => void (obstacles = []),
    close: () => closeAll(server),
  };
}

function askedOf(request: IncomingMessage, base: string, n: number): Asked {
  const url = new URL(request.url ?? "/", "http://proxy");
  const path = url.pathname.slice(base.length);
  const { method = "GET", headers } = request;
  return { n, method, path, target: path + url.search, query: url.searchParams, headers };
}

async function firstReply(
  obstacles: readonly Obstacle[],
  asked: Asked,
  passOn: () => Promise<Reply>,
): Promise<Reply | Breakage | undefined> {
  for (const obstacle of obstacles) {
    const reply = await obstacle(asked, passOn);
    if (reply !== undefined) return reply;
  }
  return undefined;
}

const ofTheHop = new Set(["connection", "keep-alive", "transfer-encoding", "content-length"]);

async function askService(upstreamUrl: string, { target, method, headers }: Asked): Promise<Reply> {
  const kept = Object.entries(headers).filter(([name]) => name !== "host" && !ofTheHop.has(name));
  const plain = Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
  const asking = { method, headers: { ...plain, ...uncompressed }, redirect: "manual" } as const;
  const reply = await fetch(`${upstreamUrl}${target}`, asking);
  const own = [...reply.headers].filter(([name]) => !ofTheHop.has(name));
  return {
    status: reply.status,
    headers: Object.fromEntries(own),
    body: Buffer.from(await reply.arrayBuffer()),
  };
}

function answer(response: ServerResponse, reply: Reply | Breakage): void {
  if (reply === "hang") return;
  if (reply === "reset") {
    response.destroy();
    return;
  }
  if (reply === "half") {
    response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
    response.write('{"data":[{"id":1', () => response.destroy());
    return;
  }
  response.writeHead(reply.status, { ...reply.headers, "content-length": String(reply.body.length) });
  response.end(reply.body);
}

export function jsonReply(
  status: number,
  content: unknown,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  const body = Buffer.from(typeof content === "string" ? content : JSON.stringify(content));
  return {
    status,
    headers: { "content-type": "application/json", "x-request-id": "req-proxy", ...headers },
    body,
  };
}

/** What the service says where it does not do what it is asked to. */
export const forbidden = jsonReply(403, { message: "This action is unauthorized." });
export const missing = jsonReply(404, { message: "No query results for model." });
export const unavailable = jsonReply(503, { message: "Service Unavailable" });

export function invalid(field: string, why = "Neplatná hodnota."): Reply {
  return jsonReply(422, { message: "The given data was invalid.", errors: { [field]: [why] } });
}

/** A page of something else than the service, as a proxy answers while that is away. */
export function htmlPage(status: number): Reply {
  return { status, headers: { "content-type": "text/html" }, body: Buffer.from("<h1>Maintenance</h1>") };
}

function rewritten(reply: Reply, change: (text: string) => string): Reply {
  return { ...reply, body: Buffer.from(change(reply.body.toString("utf8"))) };
}

/** A list without records; its totals stay. */
export function emptyList(reply: Reply): Reply {
  return rewritten(reply, (text) => JSON.stringify({ ...(JSON.parse(text) as object), data: [] }));
}

/** A list without records that says so in its totals, where it has them. */
export function emptyListAndTotals(reply: Reply): Reply {
  return rewritten(emptyList(reply), (text) => {
    const list = JSON.parse(text) as { paginator?: object };
    const none = { totalResults: 0, totalPages: 1, currentFrom: 0, currentTo: 0 };
    return JSON.stringify({ ...list, ...(list.paginator && { paginator: { ...list.paginator, ...none } }) });
  });
}
