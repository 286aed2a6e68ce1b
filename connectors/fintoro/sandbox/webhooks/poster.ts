import { Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import { endpointFlaws, type EndpointFlaw } from "../rules/webhook-address.ts";

export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** The receiver's status, or why there is none. */
export interface PostResult {
  readonly status: number | null;
  readonly error: string | null;
}

const flawTexts: Readonly<Record<EndpointFlaw, string>> = {
  url: "the URL cannot be read",
  credentials: "the URL holds credentials",
  https: "the URL is not https",
  public_address: "the host is no public address",
};

/** Sends one POST everyKey, to addresses that are checked before; follows no redirect. */
export class Poster {
  readonly #plain = new PlainAgent({ keepAlive: true });
  readonly #tls = new TlsAgent({ keepAlive: true });
  readonly #closing = new AbortController();
  readonly #timeoutMs: number;
  readonly #allowLoopback: boolean;

  /** @param timeoutMs for all of one request, to the end of its answer */
  constructor(timeoutMs: number, allowLoopback: boolean) {
    this.#timeoutMs = timeoutMs;
    this.#allowLoopback = allowLoopback;
  }

  /** @param isAgain the receiver had closed a kept connection as the request went out */
  post(post: Post, isAgain = false): Promise<PostResult> {
    const [flaw] = endpointFlaws(post.url, this.#allowLoopback);
    if (flaw) return Promise.resolve({ status: null, error: `not sent: ${flawTexts[flaw]}` });
    const target = new URL(post.url);
    const late = AbortSignal.timeout(this.#timeoutMs);
    const headers = { ...post.headers, "content-length": String(post.body.length) };
    const signal = AbortSignal.any([this.#closing.signal, late]);
    const options = { method: "POST", headers, signal };
    const request =
      target.protocol === "https:"
        ? tlsRequest(target, { ...options, agent: this.#tls })
        : plainRequest(target, { ...options, agent: this.#plain });
    return new Promise((resolve) => {
      const fail = ({ message }: Error) =>
        resolve({ status: null, error: late.aborted ? `no answer within ${this.#timeoutMs} ms` : message });
      request.on("error", (error: NodeJS.ErrnoException) => {
        if (!isAgain && request.reusedSocket && error.code === "ECONNRESET") resolve(this.post(post, true));
        else fail(error);
      });
      request.on("response", (response) => {
        response.on("end", () => resolve({ status: response.statusCode ?? 0, error: null }));
        response.on("error", fail);
        response.resume();
      });
      request.end(post.body);
    });
  }

  /** Aborts what is under way. */
  close(): void {
    this.#closing.abort();
    this.#plain.destroy();
    this.#tls.destroy();
  }
}
