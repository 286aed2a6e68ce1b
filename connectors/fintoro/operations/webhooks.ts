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

export const webhookOperations = {
  webhookSubscriptions: {
    list: op.wholeList("/webhook-subscriptions", webhookSubscription),
    ...op.records("/webhook-subscriptions", "webhookSubscription", webhookSubscription, input),
    create: op.create("/webhook-subscriptions", input, webhookSubscriptionWithSecret),
    rotateSecret: {
      ...op.show("/webhook-subscriptions/{webhookSubscription}/rotate-secret", webhookSubscriptionWithSecret),
      method: "POST",
    },
  },
} as const;
