import { z } from "zod";
import * as t from "../../../src/connector/record-schema.ts";
import { wholeResource } from "./resource-builders.ts";

export const webhookSubscription = t.record({
  id: t.integer(),
  companyId: t.doc("The service's number of the company", t.integer()),
  name: t.orNull(t.text()),
  url: t.stated(t.doc("Where events are delivered", t.text())),
  isActive: t.stated(t.doc("Off: no new deliveries, the history stays", t.boolean())),
  subscribedEvents: t.stated(t.doc("Names of the events it delivers", t.json(z.array(t.eventName())))),
  lastSuccessAt: t.orNull(t.timestamp()),
  lastFailureAt: t.orNull(t.timestamp()),
  disabledAt: t.orNull(t.timestamp()),
  disabledReason: t.orNull(t.text()),
  createdAt: t.orNull(t.timestamp()),
  updatedAt: t.orNull(t.timestamp()),
});

/** The answer of create and rotate: the only time the secret is shown. Never stored in the mirror. */
export const webhookSubscriptionWithSecret = webhookSubscription.extend({
  plainTextSecret: t.stated(t.text()),
});

export const webhookSubscriptions = wholeResource("webhook_subscriptions", "Webhook subscriptions", {
  record: webhookSubscription,
  isTechnical: true,
  volatile: ["lastSuccessAt", "lastFailureAt"],
});
