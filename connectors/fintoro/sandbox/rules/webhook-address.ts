import { BlockList, isIP } from "node:net";

/** What is wrong with the address of a subscription; the words are keys of messages. */
export type EndpointFlaw = "url" | "credentials" | "https" | "public_address";

/**
 * What is wrong with a subscription's URL. It must use https, name no credentials and a public host. The
 * host is judged as it is written: no name is resolved.
 *
 * @param allowLoopback http and hosts of this machine are fine, too
 */
export function endpointFlaws(text: string, allowLoopback: boolean): EndpointFlaw[] {
  const url = URL.parse(text);
  if (!url) return ["url"];
  const flaws: EndpointFlaw[] = url.username === "" && url.password === "" ? [] : ["credentials"];
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const isLoopback = /^(localhost|::1|127\.[\d.]+)$/.test(host);
  if (allowLoopback && isLoopback && /^https?:$/.test(url.protocol)) return flaws;
  if (url.protocol !== "https:") flaws.push("https");
  if (!isPublic(host)) flaws.push("public_address");
  return flaws;
}

const reserved = new BlockList();
const ranges =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16 198.18.0.0/15 224.0.0.0/3";
for (const range of ranges.split(" ")) {
  const [network = "", bits] = range.split("/");
  reserved.addSubnet(network, Number(bits));
}

function isPublic(host: string): boolean {
  const version = isIP(host);
  if (version === 4) return !reserved.check(host);
  if (version === 6) return /^[23]/.test(host) && !host.startsWith("2001:db8");
  return host.includes(".") && !/(^|\.)(localhost|local|internal|test|invalid)$/.test(host);
}
