import { createHmac, randomUUID } from "node:crypto";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import type { SentEvent } from "../../../connectors/fintoro/sandbox/model/company.ts";

export const secret = "whsec_acme_0123456789";

/** One delivery as the service would send it; gives the status. */
export async function deliver(
  { url }: { readonly url: string },
  event: SentEvent,
  { to = "acme", secret: key = secret }: { readonly to?: string; readonly secret?: string } = {},
): Promise<number> {
  const body = JSON.stringify(event);
  const headers = signedHeaders(event.id, body, key);
  const answer = await fetch(`${url}/webhooks/${to}`, { method: "POST", body, headers });
  await answer.arrayBuffer();
  return answer.status;
}

/** Headers of a delivery that leaves now; the signature covers the body only. */
export function signedHeaders(eventId: string, body: string | Buffer, key: string, nowMs = Date.now()) {
  return {
    "content-type": "application/json",
    "webhook-id": eventId,
    "webhook-timestamp": String(Math.floor(nowMs / 1000)),
    "webhook-signature": createHmac("sha256", key).update(body).digest("hex"),
  };
}

/** An event that the service never sent. */
export function eventOf(type: string, id: number, resourceType = resourceTypeOf(type)): SentEvent {
  const resource = { type: resourceType, id };
  return { id: `evt_${randomUUID()}`, type, occurredAt: new Date().toISOString(), resource };
}

function resourceTypeOf(type: string): string {
  const rule = declaration.events.find((one) => one.type === type);
  if (!rule) throw new Error(`there is no event ${type}`);
  return rule.resourceType;
}
