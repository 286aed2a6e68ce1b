import { z } from "zod";
import { defineResource } from "../../../src/connector/define.ts";
import {
  boolean,
  doc,
  eventName,
  integer,
  json,
  orNull,
  record,
  stated,
  text,
  timestamp,
} from "../../../src/connector/record-schema.ts";

const shape = {
  id: integer(),
  companyId: doc("The service's number of the company", integer()),
  name: orNull(text()),
  url: stated(doc("Where events are delivered", text())),
  isActive: stated(doc("Off: no new deliveries, the history stays", boolean())),
  subscribedEvents: stated(doc("Names of the events it delivers", json(z.array(eventName())))),
  lastSuccessAt: orNull(timestamp()),
  lastFailureAt: orNull(timestamp()),
  disabledAt: orNull(timestamp()),
  disabledReason: orNull(text()),
  createdAt: orNull(timestamp()),
  updatedAt: orNull(timestamp()),
};

export const webhookSubscription = record(shape);

/** The answer of create and rotate: the only time the secret is shown. Never stored in the mirror. */
export const webhookSubscriptionWithSecret = record({
  ...shape,
  plainTextSecret: stated(text()),
});

export const webhookSubscriptions = defineResource({
  name: "webhook_subscriptions",
  singular: "webhook_subscription",
  title: "Webhook subscriptions",
  origin: "published",
  record: webhookSubscription,
  list: { kind: "whole", path: "/webhook-subscriptions" },
  detail: "/webhook-subscriptions/{id}",
});
