import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPublicAddress, isPublicHost } from "../config/address.ts";
import { answerHeaders, retryAfterS } from "./headers.ts";
import { openPool } from "./pool.ts";

const limitMs = 10_000;
/** What is read of an answer's body, so that the connection can be used again. */
const drain = { bytes: 16_384, limitMs: 1_000 };

/** Why a POST was not taken. */
export class NotTaken extends Error {
  /** Asking again changes nothing: the receiver says so, or nothing may be sent there. */
  readonly refuses: boolean;
  /** Of the answer; null: there was none. */
  readonly status: number | null;
  /** How long the receiver asks to wait; 0: it does not. */
  readonly retryAfterMs: number;

  constructor(message: string, refuses: boolean, status: number | null = null, retryAfterMs = 0) {
    super(message);
    this.refuses = refuses;
    this.status = status;
    this.retryAfterMs = retryAfterMs;
  }
}

/** A message and its three headers of a webhook; `id` is the same in every attempt. */
interface Post {
  readonly id: string;
  readonly body: string;
  /** When it is sent, since 1970. */
  readonly seconds: number;
  /** Null: it is not signed. */
  readonly signature: string | null;
}

/**
 * Opens the connection to one address, by the proxy that requests to the service take; messages are sent one after another.
 * No redirect is followed.
 *
 * @param isPublicOnly nothing is sent to a private address, whatever a name leads to; by no proxy, which would look
 *   names up itself
 */
export function openPoster(url: string, version: string, isPublicOnly = false) {
  const { origin, hostname, pathname, search } = new URL(url);
  if (isPublicOnly && !isPublicHost(hostname)) throw privateAddress();
  const pool = openPool(origin, limitMs, 1, isPublicOnly ? { judge: { lookup: lookUpPublic, byProxy } } : {});
  let drained: Promise<unknown> = Promise.resolve();
  /** One attempt of ten seconds; any 2xx means taken. @throws NotTaken */
  const post = async ({ id, body, seconds, signature }: Post, signal: AbortSignal) => {
    const signed = signature === null ? {} : { "webhook-signature": signature };
    const named = { "webhook-id": id, "webhook-timestamp": String(seconds), ...signed };
    const agent = { "content-type": "application/json", "user-agent": `fintoro-mirror/${version}` };
    const headers = { ...agent, ...named };
    await drained;
    const limit = AbortSignal.timeout(limitMs);
    const request = { origin, path: pathname + search, method: "POST", body, headers } as const;
    try {
      const answer = await pool.request({ ...request, signal: AbortSignal.any([signal, limit]) });
      const within = { limit: drain.bytes, signal: AbortSignal.timeout(drain.limitMs) };
      drained = answer.body.dump(within).catch(() => undefined);
      const waitS = retryAfterS(answerHeaders(answer.headers), seconds * 1000) ?? 0;
      assertTaken(answer.statusCode, waitS * 1000);
    } catch (error) {
      if (error instanceof NotTaken) throw error;
      throw new NotTaken(limit.aborted ? `no answer within ${limitMs / 1000} s` : causeOf(error), false);
    }
  };
  return { post, close: () => pool.destroy() };
}

/** Looks an address up, and sends nothing. Throws NotTaken where nothing would be sent there. */
export async function assertMayPost(url: string, isPublicOnly: boolean): Promise<void> {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
  const look = isPublicOnly ? lookUpPublic : lookup;
  const fault = await new Promise((resolve) => look(host, {}, resolve));
  if (fault !== null) throw new NotTaken(causeOf(fault), true);
}

const privateAddress = () =>
  new NotTaken("it leads to this machine or a private network, and allow_private is off", true);
const byProxy = () => new NotTaken("HTTPS_PROXY would look up its address: allow_private permits that", true);

/** Finds no address at all where one of them is private. */
const lookUpPublic: LookupFunction = (host, options, callback) => {
  lookup(host, { ...options, all: true }, (error, found) => {
    const [first] = found ?? [];
    if (error || !first) callback(error ?? new Error("no address"), []);
    else if (found.some(({ address }) => !isPublicAddress(address))) callback(privateAddress(), []);
    else if (options.all) callback(null, found);
    else callback(null, first.address, first.family);
  });
};

/** What a client must change before it asks again, but for these three. */
const passing = new Set([408, 425, 429]);

function assertTaken(status: number, retryAfterMs: number): void {
  if (status >= 200 && status < 300) return;
  const isRedirect = status >= 300 && status < 400;
  const refuses = status >= 300 && status < 500 && !passing.has(status);
  const why = `it answered ${status}${isRedirect ? ", and no redirect is followed" : ""}`;
  throw new NotTaken(why, refuses, status, status === 429 || status === 503 ? retryAfterMs : 0);
}

/** By its code: a message may hold the address. That of a refused tunnel has the proxy's status alone. */
function causeOf(error: unknown): string {
  if (error instanceof NotTaken) return error.message;
  const { code, message } = error as { code?: string; message: string };
  const cause = message.startsWith("Proxy response") ? message : (code ?? "no connection");
  return `it cannot be reached: ${cause}`;
}
