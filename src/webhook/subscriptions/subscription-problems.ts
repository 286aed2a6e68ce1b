import { someOf } from "../../base/names.ts";
import type { CompanyConfig } from "../../config/config.ts";
import type { EventRule, ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { Db } from "../../store/database.ts";
import { Records } from "../../store/tables/stored-records.ts";
import { parseSubscription, type Subscription } from "./subscription-client.ts";

/** Whose receiver it is, and where the service reaches it; null: the config does not say. */
interface ReceiverAddress {
  readonly name: string;
  readonly webhook: { readonly publicUrl: string | null };
}

export interface SubscriptionFacts {
  readonly all: readonly Subscription[];
  readonly receiver: ReceiverAddress;
  readonly needed: readonly string[];
  /** When the last delivery was stored here; null: not known, or none was. */
  readonly lastReceivedMs: number | null;
  /** When the service named them: a delivery that was stored since came by another one. @default just now */
  readonly readAtMs?: number;
}

/** Does the URL lead to this config's receiver? Then its secret belongs in this config. */
export function deliversHere(url: string, { name, webhook }: ReceiverAddress): boolean {
  const there = URL.parse(url);
  if (!there) return false;
  if (webhook.publicUrl === null) return there.pathname === `/webhooks/${name}`;
  return there.href === URL.parse(webhook.publicUrl)?.href;
}

export function missingEvents({ events }: Subscription, rules: readonly EventRule[]): string[] {
  return rules.map(({ type }) => type).filter((type) => !events.includes(type));
}

/**
 * What the config expects of a company's subscriptions: that they deliver here whatever has a record of these resources
 * read. Null: nothing, it names neither an address nor a secret.
 */
export function expectedSubscriptions(
  { name, webhook: { publicUrl, secrets } }: CompanyConfig,
  { events }: ConnectorDeclaration,
  resources: readonly { readonly name: string }[],
): Pick<SubscriptionFacts, "receiver" | "needed"> | null {
  if (publicUrl === null && secrets.length === 0) return null;
  const names = new Set<string | null>(resources.map((one) => one.name));
  const needed = events.filter(({ resource, action }) => action !== "keep" && names.has(resource));
  return { receiver: { name, webhook: { publicUrl } }, needed: needed.map(({ type }) => type) };
}

/** When a delivery failed after the last one that arrived, as the service says; null: the last one arrived. */
export function failedAtMs(one: Subscription): number | null {
  const failedMs = Date.parse(one.last_failure_at ?? "");
  return Number.isNaN(failedMs) || Date.parse(one.last_success_at ?? "") > failedMs ? null : failedMs;
}

/** Why a company does not get all events it needs, a sentence each. Pure. No address, which may be secret, is in it. */
export function subscriptionProblems({ all, receiver, needed, lastReceivedMs, readAtMs }: SubscriptionFacts) {
  const here = all.filter(({ url }) => deliversHere(url, receiver));
  const active = here.filter((one) => one.active);
  const { publicUrl } = receiver.webhook;
  // Without its address a subscription with another path may lead here: a proxy can change paths.
  if (here.length === 0 && all.length > 0 && publicUrl === null) return [];
  if (active.length === 0 && (lastReceivedMs ?? 0) > (readAtMs ?? Infinity)) return [];
  if (active.length === 0) {
    const place = publicUrl ?? "this receiver";
    return [`the service delivers nothing to ${place}: ${whyNothing(here, all)}`];
  }
  const delivered = new Set(active.flatMap(({ events }) => events));
  const missing = needed.filter((type) => !delivered.has(type));
  const failing = active.filter((one) => (failedAtMs(one) ?? 0) > (lastReceivedMs ?? 0));
  const lack = `lacks ${missing.length} of ${needed.length} events that are needed: ${someOf(missing, 6)}`;
  return [
    ...(missing.length > 0 ? [`${named(active)} ${lack}`] : []),
    ...failing.map((one) => `deliveries of ${named([one])} fail: the last one did at ${one.last_failure_at}`),
  ];
}

function whyNothing(here: readonly Subscription[], all: readonly Subscription[]): string {
  if (all.length === 0) return "there is no subscription";
  if (here.length === 0) return `${named(all)} leads elsewhere`;
  const isDisabled = here.some((one) => one.disabled_reason !== null);
  return `${named(here)} is off${isDisabled ? ", switched off by the service" : ""}`;
}

function named(some: readonly Subscription[]): string {
  const ids = some.map(({ id }) => String(id));
  return ids.length === 1 ? `subscription ${ids[0]}` : `each of the subscriptions ${someOf(ids, 3)}`;
}

export function mirroredSubscriptions(db: Db, resource: string): Subscription[] {
  const records = new Records(db).liveJson(resource);
  return records.map((json) => parseSubscription(JSON.parse(json) as Record<string, unknown>));
}
