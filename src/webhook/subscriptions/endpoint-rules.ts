import { isIP } from "node:net";
import { isLoopbackUrl } from "../../config/address.ts";
import { isPublicAddress } from "./endpoint-address.ts";

/** All addresses of a host name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** Why the service would refuse a URL. */
export interface EndpointFault {
  readonly what: string;
  readonly hint: string;
  /** False: the answer may be another one where the service runs. */
  readonly certain: boolean;
}

/** What an endpoint is checked with. */
export interface EndpointRules {
  readonly lookup: Lookup;
  /** The service runs on this machine too and may reach loopback addresses. */
  readonly loopback: boolean;
}

/** Checks a URL by the service's own rules (interface document), without a request. Null: nothing is wrong. */
export async function endpointFault(text: string, rules: EndpointRules): Promise<EndpointFault | null> {
  const url = URL.parse(text.trim());
  if (!url) return certain("this is no URL", "write it whole: https://hooks.example.com/webhooks/acme");
  if (url.username !== "" || url.password !== "")
    return certain("the URL carries a user name or password", "the service refuses such URLs; take them out");
  if (rules.loopback && isLoopbackUrl(url.href)) return null;
  if (url.protocol !== "https:")
    return certain(`${url.href} is not https://`, "the service sends events over https:// only");
  return hostFault(url, rules.lookup);
}

async function hostFault(url: URL, lookup: Lookup): Promise<EndpointFault | null> {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (/(^|\.)(localhost|local)$/.test(host)) return notPublic(url, host);
  if (isIP(host) !== 0) return isPublicAddress(host) ? null : notPublic(url, host);
  const addresses = await lookup(host).catch(() => []);
  if (addresses.length === 0) {
    const hint = "the service must be able to resolve it";
    return { what: `${host} cannot be resolved here`, hint, certain: false };
  }
  const hidden = addresses.find((address) => !isPublicAddress(address));
  return hidden === undefined ? null : notPublic(url, `${host} (${hidden})`);
}

function notPublic(url: URL, host: string): EndpointFault {
  const hint = "the service delivers to public addresses only: put a reverse proxy or a tunnel in front";
  return certain(`${url.href}: ${host} is not a public address`, hint);
}

function certain(what: string, hint: string): EndpointFault {
  return { what, hint, certain: true };
}
