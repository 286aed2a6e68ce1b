import { z } from "zod";
import { eventName } from "../../../src/connector/record-schema.ts";
import { webhookSubscription, webhookSubscriptionWithSecret } from "../resources/webhook-subscriptions.ts";
import * as op from "./operation-builders.ts";
import { maybe, characters } from "./input-types.ts";

const input = z.strictObject({
  name: maybe(characters(255)),
  url: z.url({ protocol: /^https?$/, error: "must be a web address" }).max(2048),
  isActive: z.boolean(),
  subscribedEvents: z.array(eventName()).min(1),
});

export const webhookSubscriptionOperations = op.group("webhookSubscriptions", {
  list: op.wholeList("/webhook-subscriptions", webhookSubscription),
  create: op.idempotent(op.create("/webhook-subscriptions", input, webhookSubscriptionWithSecret)),
  show: op.show("/webhook-subscriptions/{webhookSubscription}", webhookSubscription),
  update: op.update("PUT", "/webhook-subscriptions/{webhookSubscription}", input, webhookSubscription),
  delete: op.statedRoute(op.remove("/webhook-subscriptions/{webhookSubscription}")),
  rotateSecret: {
    method: "POST",
    path: "/webhook-subscriptions/{webhookSubscription}/rotate-secret",
    origin: "published",
    status: 200,
    answer: { kind: "record", schema: webhookSubscriptionWithSecret },
  },
});
