import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import { Books, kinds } from "./books.ts";

interface StandInOptions {
  /** @default a free one */
  readonly port?: number | undefined;
  readonly seed?: number | undefined;
  /** Invoices; half as many expenses, a third as many contacts. @default 60 */
  readonly invoices?: number;
  /** Requests in a window. @default 400 */
  readonly limit?: number | undefined;
  readonly windowMs?: number | undefined;
  /** Calls in a month, as the account shows them; null: it does not. @default 3,000 */
  readonly monthly?: number | null;
  readonly clock?: Clock;
}

interface Visit {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** An answer; `body` null: without one. */
interface StandInAnswer {
  readonly status: number;
  readonly body: unknown;
}

const tokenValidMs = 7_200_000;
const account = "zkusebni-ucet";

/** Starts a stand-in for Fakturoid v3 on 127.0.0.1. All data are made up, and are lost when it ends. */
export async function startStandIn(options: StandInOptions = {}): Promise<StandIn> {
  const standIn = new StandIn(options);
  await standIn.listen(options.port ?? 0);
  return standIn;
}

/**
 * The service. What the vendor's documents leave open is decided so that a client has the harder part: a new access token
 * ends the one before, errors 404 have no body, `updated_since` includes its bound, a page past the end is empty.
 */
class StandIn {
  readonly access: Readonly<Record<"account" | "client_id" | "client_secret", string>>;
  readonly books: Books;
  readonly visits: (Visit & Pick<StandInAnswer, "status">)[] = [];
  tokensIssued = 0;
  /** Calls of this month, as the account shows them. */
  callsUsed = 0;
  private readonly options: StandInOptions;
  private readonly clock: Clock;
  private readonly seed: number;
  private readonly server: Server;
  private readonly window = { endsMs: 0, left: 0 };
  private token = { text: "", endsMs: 0 };
  private readonly planned: ((visit: Visit) => StandInAnswer | null)[] = [];

  constructor(options: StandInOptions) {
    const { seed = 1, invoices = 60, clock = systemClock } = options;
    this.access = { account, client_id: print("id", seed), client_secret: print("secret", seed) };
    this.options = options;
    this.clock = clock;
    this.seed = seed;
    this.books = new Books(seed, invoices, clock.nowMs(), account);
    this.server = createServer({ noDelay: true }, (request, response) => void this.serve(request, response));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/api/v3`;
  }

  async listen(port: number): Promise<void> {
    await once(this.server.listen(port, "127.0.0.1"), "listening");
  }

  /** The next requests get these answers; null: their own. */
  plan(...answers: typeof this.planned): void {
    this.planned.push(...answers);
  }

  endToken(): void {
    this.token = { text: "", endsMs: 0 };
  }

  close(): Promise<void> {
    this.server.closeAllConnections();
    return new Promise<void>((resolve) => void this.server.close(() => resolve()));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    await text(request);
    const { limit = 400, windowMs = 60_000 } = this.options;
    const { window } = this;
    const nowMs = this.clock.nowMs();
    const url = new URL(request.url ?? "", "http://stand-in");
    const below = url.pathname.replace(/^\/api\/v3/, "");
    const path = below.replace(`/accounts/${account}/`, "/");
    const visit = { method: request.method ?? "", path, query: url.searchParams };
    this.callsUsed++;
    if (nowMs >= window.endsMs) Object.assign(window, { endsMs: nowMs + windowMs, left: limit });
    window.left--;
    const refused = window.left < 0 ? refusal(429, "too_many_requests") : this.planned.shift()?.(visit);
    const { status, body } =
      refused ?? this.authorize(request, path, nowMs) ?? this.answer(path, visit.query);
    this.visits.push({ ...visit, status });
    response.writeHead(status, {
      "content-type": "application/json; charset=utf-8",
      "x-ratelimit-policy": `default;q=${limit};w=${windowMs / 1000}`,
      "x-ratelimit": `default;r=${Math.max(0, window.left)};t=${Math.ceil((window.endsMs - nowMs) / 1000)}`,
      "x-request-id": print("request", this.callsUsed),
    });
    response.end(body === null ? "" : JSON.stringify(body));
  }

  /** Null: the request may pass. */
  private authorize({ headers }: IncomingMessage, path: string, nowMs: number): StandInAnswer | null {
    const { client_id, client_secret } = this.access;
    const { authorization = "", "user-agent": agent = "" } = headers;
    if (!/\S \(.+@.+\)$/.test(agent)) return refusal(400, "invalid_request");
    if (path !== "/oauth/token") {
      const isKnown = authorization === `Bearer ${this.token.text}` && nowMs < this.token.endsMs;
      return isKnown ? null : refusal(401, "invalid_token");
    }
    const basic = Buffer.from(`${client_id}:${client_secret}`).toString("base64");
    if (authorization !== `Basic ${basic}`) return refusal(401, "invalid_client");
    this.tokensIssued++;
    this.token = { text: print("token", this.seed, this.tokensIssued), endsMs: nowMs + tokenValidMs };
    const body = { access_token: this.token.text, token_type: "Bearer", expires_in: tokenValidMs / 1000 };
    return { status: 200, body };
  }

  private answer(path: string, query: URLSearchParams): StandInAnswer {
    const [, name = "", id] = /^\/(.+?)(?:\/(\d+))?\.json$/.exec(path) ?? [];
    const { monthly = 3_000 } = this.options;
    const calls = monthly === null ? {} : { api_calls_limit: monthly, api_calls_used: this.callsUsed };
    if (name === "account") return { status: 200, body: { ...this.books.account, ...calls } };
    const kind = kinds.find((one) => one === name);
    const small = this.books.small.get(name);
    if (small && id === undefined) return { status: 200, body: small };
    if (kind === undefined) return missing;
    if (id !== undefined) {
      const found = this.books.find(kind, Number(id));
      return found ? { status: 200, body: found } : missing;
    }
    const since = query.get("updated_since");
    const sinceMs = since === null ? -Infinity : Date.parse(since);
    if (Number.isNaN(sinceMs)) return refusal(400, "invalid_request");
    return { status: 200, body: this.books.page(kind, sinceMs, Number(query.get("page") ?? 1)) };
  }
}

const missing: StandInAnswer = { status: 404, body: null };
const refusal = (status: number, error: string): StandInAnswer => {
  return { status, body: { error, error_description: "Požadavek nelze zpracovat" } };
};
const print = (...parts: readonly unknown[]) =>
  createHash("sha256").update(parts.join(" ")).digest("hex").slice(0, 40);
