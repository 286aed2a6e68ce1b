import { lookup } from "node:dns";
import { Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import type { LookupFunction } from "node:net";
import { allowedAddress, endpointFlaws, type EndpointFlaw } from "../rules/webhook-address.ts";

export interface Post {
  readonly url: string;
  /** A list of values is sent as so many lines. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer;
}

/** The receiver's status, or why there is none. */
export interface PostResult {
  readonly status: number | null;
  readonly error: string | null;
}

interface PosterOptions {
  /** For all of one request, to the end of its answer. */
  readonly timeoutMs: number;
  readonly allowLoopback: boolean;
  /** Resolves host names. @default the system's resolver */
  readonly resolve?: typeof lookup;
}

/** Sends one POST each, to addresses that are checked before; follows no redirect. */
export class Poster {
  readonly #options: PosterOptions;
  readonly #clients = {
    "http:": { open: plainRequest, agent: new PlainAgent({ keepAlive: true }) },
    "https:": { open: tlsRequest, agent: new TlsAgent({ keepAlive: true }) },
  };
  readonly #closing = new AbortController();

  constructor(options: PosterOptions) {
    this.#options = options;
  }

  async post(post: Post): Promise<PostResult> {
    const [flaw] = endpointFlaws(post.url, this.#options.allowLoopback);
    if (flaw) return unsent(`not sent: ${flawTexts[flaw]}`);
    const first = await this.#once(post);
    return first === "stale" ? ((await this.#once(post)) as PostResult) : first;
  }

  /** Aborts what is under way. */
  close(): void {
    this.#closing.abort();
    for (const { agent } of Object.values(this.#clients)) agent.destroy();
  }

  /** `stale`: the receiver closed a kept connection as the request went out; a new one is needed. */
  #once({ url, headers, body }: Post): Promise<PostResult | "stale"> {
    if (this.#closing.signal.aborted) return Promise.resolve(unsent("the sandbox ended"));
    const { timeoutMs } = this.#options;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    const target = new URL(url);
    const { open, agent } = this.#clients[target.protocol === "https:" ? "https:" : "http:"];
    const request = open(target, {
      method: "POST",
      headers: { ...headers, "content-length": String(body.length) },
      lookup: checkedLookup(this.#options),
      agent,
      signal: AbortSignal.any([this.#closing.signal, late.signal]),
    });
    const failure = ({ message }: Error) =>
      unsent(late.signal.aborted ? `no answer within ${timeoutMs} ms` : message);
    return new Promise<PostResult | "stale">((resolve) => {
      request.on("error", (error: NodeJS.ErrnoException) => {
        const stale = request.reusedSocket && error.code === "ECONNRESET";
        resolve(stale ? "stale" : failure(error));
      });
      request.on("response", (response) => {
        response.on("end", () => resolve({ status: response.statusCode ?? 0, error: null }));
        response.on("error", (error) => resolve(failure(error)));
        response.resume();
      });
      request.end(body);
    }).finally(() => clearTimeout(timer));
  }
}

const flawTexts: Readonly<Record<EndpointFlaw, string>> = {
  url: "the URL cannot be read",
  credentials: "the URL holds credentials",
  https: "the URL is not https",
  public_address: "the host is no public address",
};

function unsent(error: string): PostResult {
  return { status: null, error };
}

/** Connects only to addresses that it has checked itself: a name cannot point elsewhere in between. */
function checkedLookup({ allowLoopback, resolve = lookup }: PosterOptions): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      const bad = addresses?.find(({ address }) => !allowedAddress(address, allowLoopback));
      if (error || !first) done(error ?? new Error(`${hostname} has no address`), "");
      else if (bad) done(new Error(`not sent: ${hostname} is at ${bad.address}, which is not public`), "");
      else if (options.all) done(null, addresses);
      else done(null, first.address, first.family);
    });
  };
}
