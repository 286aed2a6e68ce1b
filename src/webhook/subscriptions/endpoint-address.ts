import { BlockList, isIP } from "node:net";

function blockList(family: "ipv4" | "ipv6", networks: string): BlockList {
  const list = new BlockList();
  for (const network of networks.split(" ")) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Blocks that the registries (IANA) reserve for other uses than hosts that anyone can reach. */
const reservedV4 = blockList(
  "ipv4",
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 " +
    "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3",
);
const globalV6 = blockList("ipv6", "2000::/3");
/** Reserved within `2000::/3`. */
const reservedV6 = blockList("ipv6", "2001::/23 2001:db8::/32 2002::/16 3fff::/20");
/** IPv6 addresses that carry an IPv4 address; resolvers of IPv6-only networks answer the second. */
const carryingV4 = blockList("ipv6", "::ffff:0:0/96 64:ff9b::/96");

/** Can anyone on the internet reach it? False for what is no IP address. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !reservedV4.check(address, "ipv4");
  if (family !== 6) return false;
  if (carryingV4.check(address, "ipv6")) return isPublicAddress(carriedV4(address));
  return globalV6.check(address, "ipv6") && !reservedV6.check(address, "ipv6");
}

/** The last 32 bits, however they are written. */
function carriedV4(address: string): string {
  const canonical = new URL(`http://[${address.replace(/%.*$/, "")}]/`).hostname.slice(1, -1);
  const [high = 0, low = 0] = `:${canonical}`
    .split(":")
    .slice(-2)
    .map((group) => Number.parseInt(group || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
