import { isLoopbackUrl } from "../../config/address.ts";
import { endpointFault, type Lookup } from "../../webhook/subscriptions/endpoint-rules.ts";
import { fail, ok, warn, type CheckResult, type CheckSubject } from "./check-result.ts";

/** The service's own rules for an endpoint, told before a subscription is refused. */
export async function checkWebhook({ config, company }: CheckSubject, lookup: Lookup): Promise<CheckResult> {
  const { publicUrl, secrets } = company.webhook;
  if (publicUrl === null) return ok("webhook", "not configured; the nightly run finds everything by itself");
  const local = isLoopbackUrl(config.baseUrl);
  const fault = await endpointFault(publicUrl, { lookup, loopback: local });
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
