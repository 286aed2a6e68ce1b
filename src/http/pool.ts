import type { LookupFunction } from "node:net";
import { EnvHttpProxyAgent, Pool, type Dispatcher } from "undici";
import { MirrorError } from "../base/errors.ts";
import { isLoopbackUrl } from "../config/address.ts";

interface PoolOptions {
  /** Throws where nothing may be sent any more. */
  readonly assertMaySend?: () => void;
  /** Decides by its addresses whether the host may be asked. A proxy would look it up itself: it gets nothing. */
  readonly judge?: { readonly lookup: LookupFunction; readonly byProxy: () => Error };
}

/**
 * Opens the connections to the service's origin. They lead through the proxy of `HTTPS_PROXY`, unless `NO_PROXY` names
 * the host (both may be in lower case): by a tunnel, so that the proxy sees host and port and nothing else (I9). Nothing
 * for this machine goes through a proxy. Throws MirrorError `config` where the variable is no proxy's address.
 */
export function openPool(
  origin: string,
  timeoutMs: number,
  connections: number,
  { assertMaySend, judge }: PoolOptions = {},
) {
  const limits = {
    connections,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 10_000,
  };
  const connect = { timeout: timeoutMs, ...(judge && { lookup: judge.lookup }) };
  const refused = judge && {
    connect: (_: unknown, callback: (error: Error, socket: null) => void) => callback(judge.byProxy(), null),
  };
  const httpsProxy = proxyOf(process.env);
  if (httpsProxy === null || isLoopbackUrl(origin))
    return guarded(new Pool(origin, { ...limits, connect }), assertMaySend);
  const clientFactory = (proxy: URL, options: object) => {
    // A proxy that accepts a connection and is silent then must not keep it for ever.
    return new Pool(proxy, { ...options, ...refused, headersTimeout: timeoutMs, connections });
  };
  const proxied = new EnvHttpProxyAgent({
    ...limits,
    connect,
    connectTimeout: timeoutMs,
    clientFactory,
    httpProxy: "",
    httpsProxy,
  });
  return guarded(proxied, assertMaySend);
}

/**
 * A request may wait, for a connection or because the process was paused: it is asked whether it may be sent in the same
 * step that writes it to its connection.
 */
function guarded(pool: Dispatcher, assertMaySend?: () => void): Dispatcher {
  if (!assertMaySend) return pool;
  return pool.compose((dispatch) => (options, handler) => {
    // Each request has a handler of its own.
    const start = handler.onRequestStart?.bind(handler);
    handler.onRequestStart = (controller, context) => {
      // What it throws ends the request: nothing is written.
      assertMaySend();
      start?.(controller, context);
    };
    return dispatch(options, handler);
  });
}

/** Null: no proxy is asked for. */
function proxyOf(env: NodeJS.ProcessEnv): string | null {
  const text = env["https_proxy"] ?? env["HTTPS_PROXY"] ?? "";
  if (text === "") return null;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  // It may hold a password, so it is not repeated.
  throw new MirrorError(
    "config",
    "HTTPS_PROXY must be a proxy's address such as http://proxy.example.com:3128",
  );
}
