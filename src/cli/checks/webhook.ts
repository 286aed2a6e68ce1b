import { BlockList, isIP } from "node:net";
import { isLoopbackUrl } from "../../config/address.ts";
import { fail, ok, warn, type CheckResult, type CheckSubject } from "./check.ts";

/** All addresses of a host name. */
export type Lookup = (host: string) => Promise<readonly string[]>;

/** The service's own rules for an endpoint, told before a subscription is refused. */
export async function checkWebhook({ config, company }: CheckSubject, lookup: Lookup): Promise<CheckResult> {
  const { publicUrl, secrets } = company.webhook;
  if (publicUrl === null) return ok("webhook", "not configured; the nightly run finds everything by itself");
  if (isLoopbackUrl(publicUrl) && isLoopbackUrl(config.baseUrl))
    return ok("webhook", `${publicUrl} (this machine)`);
  const url = new URL(publicUrl);
  const wrong = await wrongWith(url, lookup);
  if (wrong !== null) return wrong;
  if (secrets.length === 0)
    return warn("webhook", `${publicUrl} has no secret`, "set webhook.secrets: deliveries cannot be trusted");
  const expected = `/webhooks/${company.name}`;
  if (url.pathname === expected) return ok("webhook", publicUrl);
  return warn("webhook", `${publicUrl} does not end in ${expected}`, "fine if a proxy maps it there");
}

async function wrongWith(url: URL, lookup: Lookup): Promise<CheckResult | null> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (url.protocol !== "https:")
    return fail("webhook", `${url.href} is not https://`, "the service refuses other URLs");
  if (host === "localhost" || host.endsWith(".local")) return notPublic(url, host);
  if (isIP(host) !== 0) return isPublicAddress(host) ? null : notPublic(url, host);
  try {
    const hidden = (await lookup(host)).find((address) => !isPublicAddress(address));
    return hidden === undefined ? null : notPublic(url, `${host} (${hidden})`);
  } catch {
    return warn("webhook", `${host} cannot be resolved here`, "the service must be able to resolve it");
  }
}

function notPublic(url: URL, host: string): CheckResult {
  return fail(
    "webhook",
    `${url.href}: ${host} is not a public address`,
    "the service refuses to deliver to private addresses",
  );
}

const reserved = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
] as const) {
  reserved.addSubnet(net, prefix, "ipv4");
}
for (const [net, prefix] of [
  ["::", 127],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001:db8::", 32],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const) {
  reserved.addSubnet(net, prefix, "ipv6");
}

export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  return family !== 0 && !reserved.check(address, family === 6 ? "ipv6" : "ipv4");
}
