import { ProtocolError } from "../connector/service-errors.ts";
import type { BaseUrl } from "./base-url.ts";
import type { SafeText } from "./safe-text.ts";

export interface Redirection {
  readonly where: string;
  readonly status: number;
  readonly requestId: string | null;
  readonly method: string;
  readonly location: string | undefined;
  /** Path and query of the request that was redirected. */
  readonly from: string;
  /** Hops already made. */
  readonly hops: number;
}

const mostHops = 3;

export function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** The path and query to ask next, if it is a read and stays on the service's own origin. */
export function followed(base: BaseUrl, redirection: Redirection, words: SafeText): string | ProtocolError {
  const { location, from, method, hops } = redirection;
  const here = base.origin + from;
  if (location === undefined || !URL.canParse(location, here)) return refusedHop(redirection, "nowhere");
  const target = new URL(location, here);
  if (target.origin !== base.origin || target.username || target.password)
    return refusedHop(redirection, `to ${words(target.origin, 100)}, where the token must not go`);
  if (method !== "GET") return refusedHop(redirection, "of a call that is not a read");
  if (hops >= mostHops) return refusedHop(redirection, `more than ${mostHops} times`);
  return target.pathname + target.search;
}

function refusedHop({ where, status, requestId }: Redirection, what: string): ProtocolError {
  return new ProtocolError(`${where}: redirected ${what} (${status})`, {
    status,
    requestId,
    hint: "check base_url: it must be the address that answers itself",
  });
}
