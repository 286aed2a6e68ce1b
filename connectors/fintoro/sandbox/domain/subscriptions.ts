import { isIP } from "node:net";
import { z } from "zod";
import { eventTypes } from "../model/catalogue.ts";
import type { Subscription } from "../model/records.ts";
import { Problems } from "../rules/problems.ts";
import { parse, text } from "../rules/shape.ts";
import type { Company } from "./company.ts";

const subscriptionInput = z.object({
  name: text().nullish(),
  url: text(2048).min(1),
  isActive: z.boolean(),
  subscribedEvents: z.array(z.enum(eventTypes as [string, ...string[]])).min(1),
});

function subscriptionFrom(company: Company, input: unknown) {
  const sent = parse(subscriptionInput, input);
  const problems = new Problems();
  checkUrl(problems, sent.url, company.settings.allowLoopbackWebhooks);
  problems.settle();
  return { ...sent, name: sent.name ?? null };
}

/** https, no credentials, a public host. Names are not resolved here: only what they say counts. */
function checkUrl(problems: Problems, text_: string, allowLoopback: boolean): void {
  const url = URL.parse(text_);
  if (!url) {
    problems.add("url", "url");
    return;
  }
  problems.expect(url.username === "" && url.password === "", "url", "credentials");
  const host = url.hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (allowLoopback && isLoopback(host)) return;
  problems.expect(url.protocol === "https:", "url", "https");
  problems.expect(isPublic(host), "url", "public_address");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.startsWith("127.") || host === "::1";
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

function newSecret(company: Company): string {
  return `whsec_${company.random.uuid().replaceAll("-", "")}`;
}

export function createSubscription(company: Company, input: unknown): Subscription {
  const facts = subscriptionFrom(company, input);
  const now = company.clock.nowMs();
  const secret = newSecret(company);
  const times = { lastSuccessAtMs: null, lastFailureAtMs: null, createdAtMs: now, updatedAtMs: now };
  return company.tables.webhook_subscriptions.add((id) => ({ id, ...facts, secret, ...times }));
}

/** The secret stays; only a rotation changes it. */
export function updateSubscription(
  company: Company,
  subscription: Subscription,
  input: unknown,
): Subscription {
  const changed = {
    ...subscription,
    ...subscriptionFrom(company, input),
    updatedAtMs: company.clock.nowMs(),
  };
  return company.tables.webhook_subscriptions.replace(changed);
}

export function rotateSecret(company: Company, subscription: Subscription): Subscription {
  const changed = { ...subscription, secret: newSecret(company), updatedAtMs: company.clock.nowMs() };
  return company.tables.webhook_subscriptions.replace(changed);
}

export function deleteSubscription(company: Company, subscription: Subscription): void {
  company.tables.webhook_subscriptions.remove(subscription.id);
}
