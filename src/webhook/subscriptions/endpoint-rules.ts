import { BlockList, isIP } from "node:net";
import { isLoopbackUrl } from "../../config/address.ts";

export type Lookup = (host: string) => Promise<readonly string[]>;

export interface EndpointFault {
  readonly what: string;
  readonly hint: string;
  /** False: the answer may be another one where the service runs. */
  readonly certain: boolean;
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
    return certain(
      `${JSON.stringify(text)} is no URL`,
      "write it whole: https://hooks.example.com/webhooks/acme",
    );
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

/** Blocks that the registries (IANA) reserve for other uses than hosts that anyone can reach. */
const reservedV4 =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 " +
  "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3";
/** Reserved within `2000::/3`. */
const reservedV6 = "2001::/23 2001:db8::/32 2002::/16 3fff::/20";
/** IPv6 addresses that carry an IPv4 address; resolvers of IPv6-only networks answer the second. */
const carryingV4 = ["::ffff:", "64:ff9b::"];

const globalV6 = new BlockList();
const reserved = new BlockList();
addNetworks(globalV6, `2000::/3 ${carryingV4.map((prefix) => `${prefix}0:0/96`).join(" ")}`);
addNetworks(reserved, `${reservedV4} ${reservedV6}`);
for (const prefix of carryingV4) addNetworks(reserved, reservedV4, prefix);

/** `carrier`: the prefix of the IPv6 addresses that carry those of these IPv4 networks. */
function addNetworks(list: BlockList, networks: string, carrier = ""): void {
  for (const network of networks.split(" ")) {
    const [address = "", bits] = network.split("/");
    const prefix = Number(bits) + (carrier === "" ? 0 : 96);
    list.addSubnet(`${carrier}${address}`, prefix, isIP(carrier + address) === 4 ? "ipv4" : "ipv6");
  }
}

/** Can anyone on the internet reach it? False for what is no IP address. */
function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !reserved.check(address, "ipv4");
  return family === 6 && globalV6.check(address, "ipv6") && !reserved.check(address, "ipv6");
}
