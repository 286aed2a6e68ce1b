import { isIP } from "node:net";

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
  if (allowLoopback && isLoopback(host) && /^https?:$/.test(url.protocol)) return flaws;
  if (url.protocol !== "https:") flaws.push("https");
  if (!isPublic(host)) flaws.push("public_address");
  return flaws;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function isPublic(host: string): boolean {
  const version = isIP(host);
  if (version === 4) return !isReservedV4(host);
  if (version === 6) return /^[23]/.test(host) && !host.startsWith("2001:db8");
  return host.includes(".") && !/(^|\.)(localhost|local|internal|test|invalid)$/.test(host);
}

function isReservedV4(host: string): boolean {
  const [a = 0, b = 0] = host.split(".").map(Number);
  return (
    [0, 10, 127].includes(a) ||
    a >= 224 ||
    (a === 100 && b >= 64 && b < 128) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && (b === 168 || b === 0)) ||
    (a === 198 && (b === 18 || b === 19))
  );
}
