import { createHash } from "node:crypto";
import { MirrorError } from "../../../../src/base/errors.ts";
import type { Company } from "../domain/company-state.ts";
import { createSubscription } from "../domain/webhook-targets.ts";
import { eventTypes } from "../model/catalogue.ts";
import type { Subscription } from "../model/company-records.ts";
import type { WebhookWish } from "../sandbox-options.ts";
import { errorMap } from "../rules/messages.ts";
import { Invalid } from "../rules/refusals.ts";

/** Secrets hang on the seed like tokens do, so that a sandbox started again is believed. */
export function subscribeAtStart(
  company: Company | undefined,
  wishes: readonly WebhookWish[],
  seed: number,
): readonly string[] {
  return wishes.map((wish, index) => {
    const { url, secret = secretFor(seed, index), events = eventTypes } = wish;
    if (!company) return secret;
    const made = subscribed(company, url, events);
    company.tables.webhook_subscriptions.replace({ ...made, secret });
    return secret;
  });
}

function subscribed(company: Company, url: string, subscribedEvents: readonly string[]): Subscription {
  try {
    return createSubscription(company, { url, isActive: true, subscribedEvents });
  } catch (cause) {
    if (!(cause instanceof Invalid)) throw cause;
    const [problem] = errorMap(cause.problems, "en")["url"] ?? [cause.message];
    throw new MirrorError("usage", `${url} cannot be subscribed: ${problem}`, { cause });
  }
}

function secretFor(seed: number, index: number): string {
  return `whsec_${createHash("sha256").update(`${seed}/webhook/${index}`).digest("hex").slice(0, 32)}`;
}
