import { buildConnector, EnvHttpProxyAgent, Pool, type Dispatcher } from "undici";
import { MirrorError } from "../base/errors.ts";
import { isLoopbackUrl } from "../config/address.ts";

/** What a pool is opened with. */
export interface PoolOptions {
  readonly timeoutMs: number;
  readonly concurrency: number;
  /** Throws where nothing may be sent any more. @default nothing is asked */
  readonly assertMaySend?: (() => void) | undefined;
}

/**
 * Opens the connections to the service's origin. They lead through the proxy of `HTTPS_PROXY`, unless `NO_PROXY` names
 * the host (both may be in lower case): by a tunnel, so that the proxy sees host and port and nothing else (I9). Nothing
 * for this machine goes through a proxy. Throws MirrorError `config` where the variable is no proxy's address.
 */
export function openPool(origin: string, { timeoutMs, concurrency, assertMaySend }: PoolOptions): Dispatcher {
  const limits = {
    connections: concurrency,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 10_000,
  };
  const direct = { ...limits, connect: guarded(buildConnector({ timeout: timeoutMs }), assertMaySend) };
  const httpsProxy = proxyOf(process.env);
  if (httpsProxy === null || isLoopbackUrl(origin)) return new Pool(origin, direct);
  const clientFactory = (proxy: URL, options: object) => {
    // A proxy that accepts a connection and is silent then must not keep it for ever.
    return new Pool(proxy, { ...options, headersTimeout: timeoutMs, connections: concurrency });
  };
  // Of connections to the service itself: with the tunnel, or without it where NO_PROXY names the host.
  const factory = (address: string | URL, options: Pool.Options) => {
    const { connect = {} } = options;
    const connector = typeof connect === "function" ? connect : buildConnector(connect);
    return new Pool(address, { ...options, connect: guarded(connector, assertMaySend) });
  };
  return new EnvHttpProxyAgent({
    ...limits,
    factory,
    connect: { timeout: timeoutMs },
    connectTimeout: timeoutMs,
    clientFactory,
    httpProxy: "",
    httpsProxy,
  });
}

/**
 * A request that waits for a new connection is sent as soon as there is one, however long the process was paused
 * meanwhile: then it is asked again whether it may be sent.
 */
function guarded(connect: buildConnector.connector, assertMaySend?: () => void): buildConnector.connector {
  if (!assertMaySend) return connect;
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null);
      try {
        assertMaySend();
      } catch (refusal) {
        socket.destroy();
        return callback(refusal instanceof Error ? refusal : new Error(String(refusal)), null);
      }
      callback(null, socket);
    });
}

/** Null: no proxy is asked for. */
function proxyOf(env: Readonly<Record<string, string | undefined>>): string | null {
  const text = env["https_proxy"] ?? env["HTTPS_PROXY"] ?? "";
  if (text === "") return null;
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  // It may hold a password, so it is not repeated.
  throw new MirrorError(
    "config",
    "HTTPS_PROXY must be a proxy's address such as http://proxy.example.com:3128",
  );
}
