import { MirrorError } from "../../../base/errors.ts";
import { someOf } from "../../../base/names.ts";
import { Secret } from "../../../base/secret.ts";
import { shortText } from "../../../base/terminal-text.ts";
import type { SubscriptionOperations } from "../../../connector/connector-manifest.ts";
import type { Transport } from "../../../connector/transport.ts";
import { connectService } from "../../../runs/service-connection.ts";
import { fingerprintOf, Meta, pinnedIdentity } from "../../../state/meta.ts";
import { createSubscriptions } from "../../../webhook/subscriptions/subscription-client.ts";
import type { Subscription, Subscriptions } from "../../../webhook/subscriptions/subscription-client.ts";
import { deliversHere, missingEvents } from "../../../webhook/subscriptions/subscription-problems.ts";
import { assertOwnToken, readMirror, type CompanyScope } from "../../mirror/company-scope.ts";

/**
 * The scope with the token of this call: of the environment variable, else of the config. The config has it among
 * its secrets, so that errors redact it.
 * @throws MirrorError `usage` when the variable is not set
 */
export function withToken(scope: CompanyScope, variable: string | undefined): CompanyScope {
  if (variable === undefined) return scope;
  const { env, onSecrets } = scope.context;
  const token = Object.hasOwn(env, variable) ? (env[variable] ?? "").trim() : "";
  if (token === "")
    throw new MirrorError("usage", `--token-env: the environment variable ${variable} is not set`);
  onSecrets([token]);
  const company = { ...scope.company, token: Secret.of(token) };
  const companies = scope.config.companies.map((one) => (one.name === company.name ? company : one));
  return { ...scope, company, config: { ...scope.config, companies } };
}

/** How the service lets subscriptions be made. Throws MirrorError `usage` where it does not. */
export function operationsOf({ manifest: { title, webhooks } }: CompanyScope): SubscriptionOperations {
  if (!webhooks) throw new MirrorError("usage", `${title} sends no events`);
  if (webhooks.subscriptions) return webhooks.subscriptions;
  throw new MirrorError("usage", `subscriptions of ${title} are not made here`, {
    hint: `Make one at ${title}: webhook.public_url of the company is its address, a long random text its Authorization and webhook.secrets.`,
  });
}

/** Gives `work` the subscriptions of one company. Requests take permits from the budget that all processes share. */
export async function withSubscriptions<T>(
  scope: CompanyScope,
  work: (subscriptions: Subscriptions) => Promise<T>,
): Promise<T> {
  const { random, signal } = scope.context;
  const operations = operationsOf(scope);
  await using service = connectService(scope.context, scope);
  await assertSameCompany(scope, service.transport);
  return await work(createSubscriptions(service.transport, operations, random, signal));
}

/** I10: refuses another company's token. A request is made only when the token is not the pinned one. */
async function assertSameCompany(scope: CompanyScope, transport: Transport): Promise<void> {
  const pinned = await readMirror(scope, (db) => db && pinnedIdentity(new Meta(db)));
  const token = scope.company.token.reveal();
  if (pinned && fingerprintOf(token, pinned.salt) !== pinned.fingerprint)
    await assertOwnToken(scope, transport);
}

export type SubscriptionView = ReturnType<typeof viewOfSubscription>;

/** Describes a subscription; `here`: it delivers to this config's receiver. */
export function viewOfSubscription(one: Subscription, { company, manifest }: CompanyScope) {
  return {
    id: one.id,
    name: one.name,
    url: one.url,
    here: deliversHere(one.url, company),
    active: one.active,
    events: one.events,
    missing_events: missingEvents(one, manifest.events),
    last_success_at: one.lastSuccessAt,
    last_failure_at: one.lastFailureAt,
    disabled_reason: one.disabledReason,
  };
}

export function subscriptionLines(company: string, view: SubscriptionView): string[] {
  const name = view.name === null ? "" : ` "${shortText(view.name)}"`;
  const whose = view.here ? "this config's receiver" : "not this config's receiver";
  const reason = view.disabled_reason === null ? "" : ` (${shortText(view.disabled_reason)})`;
  return [
    `${company}: subscription ${view.id}${name}, ${view.active ? "active" : "off"}${reason}`,
    `  ${view.url} (${whose})`,
    `  ${eventsText(view)}; last success ${view.last_success_at ?? "never"}, last failure ${view.last_failure_at ?? "never"}`,
  ];
}

function eventsText({ events, missing_events: missing }: SubscriptionView): string {
  if (missing.length === 0) return `all ${events.length} events`;
  return `${events.length} of ${events.length + missing.length} events; not ${someOf(missing, 6)}`;
}
