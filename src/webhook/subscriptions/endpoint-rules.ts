import { isIP } from "node:net";
import { isLoopbackUrl, isPublicAddress } from "../../config/address.ts";

export type Lookup = (host: string) => Promise<readonly string[]>;

type EndpointFault = ReturnType<typeof fault>;

/** @param certain false: the answer may be another one where the service runs */
function fault(what: string, hint: string, certain = true) {
  return { what, hint, certain };
}

/**
 * Checks a URL by the service's own rules (interface document), without a request. Null: nothing is wrong. `loopback`:
 * the service runs on this machine, too, and may reach loopback addresses.
 */
export async function endpointFault(
  text: string,
  rules: { readonly lookup: Lookup; readonly loopback: boolean },
): Promise<EndpointFault | null> {
  const url = URL.parse(text.trim());
  if (!url)
    return fault(
      `${JSON.stringify(text)} is no URL`,
      "write it whole: https://hooks.example.com/webhooks/acme",
    );
  if (url.username !== "" || url.password !== "")
    return fault("the URL carries a user name or password", "the service refuses such URLs; take them out");
  if (rules.loopback && isLoopbackUrl(url.href)) return null;
  if (url.protocol !== "https:")
    return fault(`${url.href} is not https://`, "the service sends events over https:// only");
  return hostFault(url, rules.lookup);
}

async function hostFault(url: URL, lookup: Lookup): Promise<EndpointFault | null> {
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (/(^|\.)(localhost|local)$/.test(host)) return notPublic(url, host);
  if (isIP(host) !== 0) return isReachable(host) ? null : notPublic(url, host);
  const addresses = await lookup(host).catch(() => []);
  if (addresses.length === 0)
    return fault(`${host} cannot be resolved here`, "the service must be able to resolve it", false);
  const hidden = addresses.find((address) => !isReachable(address));
  return hidden === undefined ? null : notPublic(url, `${host} (${hidden})`);
}

function notPublic(url: URL, host: string): EndpointFault {
  const hint = "the service delivers to public addresses only: put a reverse proxy or a tunnel in front";
  return fault(`${url.href}: ${host} is not a public address`, hint);
}

/** An IPv6 address that carries an IPv4 address, in its shortest form; resolvers of IPv6-only networks answer the second. */
const carrying = /^\[(?:::ffff:|64:ff9b::)(?:(\w+):)?(\w+)\]$/;

/** Can anyone on the internet reach it? By the IPv4 address that it carries, if it does. False for what is no IP address. */
function isReachable(address: string): boolean {
  const [, high = "0", low] = carrying.exec(URL.parse(`http://[${address}]`)?.hostname ?? "") ?? [];
  if (low === undefined) return isPublicAddress(address);
  const halves = [high, low].map((digits) => Number.parseInt(digits, 16));
  return isPublicAddress(halves.flatMap((half) => [half >>> 8, half & 0xff]).join("."));
}
