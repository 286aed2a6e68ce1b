import { lookup } from "node:dns/promises";
import { MirrorError } from "../../base/errors.ts";
import { isLoopbackUrl } from "../../config/address.ts";
import { endpointFault, type Lookup } from "../../webhook/subscriptions/endpoint-rules.ts";
import type { CompanyScope } from "../mirror/company-scope.ts";
import { fail, ok, warn, type CheckResult } from "./check-result.ts";

/** All addresses of a host name, as this machine resolves it. */
async function addressesOf(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

/** Checks the configured public URL by the service's own rules for an endpoint. */
export async function checkWebhook(
  { config, company }: Pick<CompanyScope, "config" | "company">,
  resolve: Lookup = addressesOf,
): Promise<CheckResult> {
  const { publicUrl, secrets } = company.webhook;
  if (publicUrl === null && secrets.length > 0)
    return ok("webhook", "no public_url: deliveries are taken, and their way here is not checked");
  if (publicUrl === null) return ok("webhook", "not configured; the nightly run finds everything by itself");
  const local = isLoopbackUrl(config.baseUrl);
  const fault = await endpointFault(publicUrl, { lookup: resolve, loopback: local });
  if (fault) return (fault.certain ? fail : warn)("webhook", fault.what, fault.hint);
  if (!secrets.some(({ known }) => known))
    return warn(
      "webhook",
      `${publicUrl} has no secret`,
      "set webhook.secrets (`webhooks create` gets one): without it `serve` can take no delivery",
    );
  if (local && isLoopbackUrl(publicUrl)) return ok("webhook", `${publicUrl} (this machine)`);
  const expected = `/webhooks/${company.name}`;
  if (new URL(publicUrl).pathname === expected) return ok("webhook", publicUrl);
  return warn("webhook", `${publicUrl} does not end in ${expected}`, "fine if a proxy maps it there");
}

/**
 * Refuses a URL that the service would refuse, before a request is spent on it; logs what may be a fault.
 * @throws MirrorError `usage`
 */
export async function assertEndpoint({ context, config }: CompanyScope, url: string): Promise<void> {
  const fault = await endpointFault(url, { lookup: addressesOf, loopback: isLoopbackUrl(config.baseUrl) });
  if (fault?.certain) throw new MirrorError("usage", fault.what, { hint: fault.hint });
  if (fault) context.log.warn(fault.what, { hint: fault.hint });
}
