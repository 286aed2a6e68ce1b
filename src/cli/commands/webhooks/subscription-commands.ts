import { MirrorError } from "../../../base/errors.ts";
import { shortText } from "../../../base/terminal-text.ts";
import {
  type Subscription,
  type SubscriptionInput,
  type IssuedSecret,
  createSubscriptions,
  type Subscriptions,
} from "../../../webhook/subscriptions/subscription-client.ts";
import {
  deliversHere,
  expectedSubscriptions,
  subscriptionProblems,
  missingEvents,
} from "../../../webhook/subscriptions/subscription-problems.ts";
import { assertEndpoint } from "../upkeep/check.ts";
import { assertOwnToken, readMirror, soleScope, type CompanyScope } from "../../mirror/company-scope.ts";
import { chosenCompanies } from "../../../config/companies.ts";
import { forEachCompany } from "../../runs/each-company.ts";
import type { CommandOptions, CommandRun } from "../../program/command-table.ts";
import { recordId, type RecordId } from "../../../base/ids.ts";
import { assertKnown, someOf } from "../../../base/names.ts";
import type { EventRule, SubscriptionOperations } from "../../../connector/connector-declaration.ts";
import { makeFolders } from "../../../base/files/atomic-file.ts";
import { dayMs, isoOrNull } from "../../../base/clock.ts";
import type { SecretPlace } from "../../../config/secrets.ts";
import {
  openPendingKey,
  readKey,
  readPendingKey,
  retiredKeysIn,
  retireKeys,
  storePendingKey,
} from "../../../webhook/keys/key-files.ts";
import { Secret } from "../../../base/secret.ts";
import type { Transport } from "../../../connector/transport.ts";
import { connectService } from "../../../runs/service-connection.ts";
import { fingerprintOf, Meta, pinnedIdentity } from "../../../state/meta.ts";

export const listCommand: CommandRun<"webhooks list"> = (context, { options, config }) => {
  if (options.tokenEnv !== undefined && chosenCompanies(config, context.globals.company).length > 1)
    throw new MirrorError("usage", "--token-env is of one company: name it with --company");
  const list = async (each: CompanyScope) => {
    const scope = withToken(each, options.tokenEnv);
    const { name } = scope.company;
    const all = await withSubscriptions(scope, (subscriptions) => subscriptions.list());
    const views = all.map((one) => viewOfSubscription(one, scope));
    const none = `${name}: no subscription; \`webhooks create\` makes one`;
    return {
      document: { subscriptions: views, problems: warnOfProblems(scope, all) },
      lines: views.length === 0 ? [none] : views.flatMap((view) => subscriptionLines(name, view)),
    };
  };
  const failed = { subscriptions: [], problems: [] };
  return forEachCompany(context, config, list, { failed, isAnswer: true });
};

function warnOfProblems(
  { context, company, declaration, resources }: CompanyScope,
  all: readonly Subscription[],
): string[] {
  const expected = expectedSubscriptions(company, declaration, resources);
  const problems = expected ? subscriptionProblems({ ...expected, all, lastReceivedMs: null }) : [];
  const hint =
    "`webhooks create` makes a subscription, `webhooks update ID --active on` wakes one that is off, `--events all` gives it all events";
  for (const problem of problems) context.log.warn(`${company.name}: ${problem}`, { hint });
  return problems;
}

export const createCommand: CommandRun<"webhooks create"> = async (context, { options, config, path }) => {
  const scope = withToken(soleScope(context, config), options.tokenEnv);
  const { company, declaration } = scope;
  operationsOf(scope);
  const url = options.url ?? company.webhook.publicUrl;
  if (url === null)
    throw new MirrorError("usage", "where should events go? The config has no public_url", {
      hint: `set companies.${company.name}.webhook.public_url, or give --url`,
    });
  const events = eventsNamed(options.events ?? "all", declaration.events);
  await assertEndpoint(scope, url);
  return withSubscriptions(scope, async (subscriptions) => {
    const { href } = URL.parse(url) ?? {};
    const others = (await subscriptions.list()).filter((one) => URL.parse(one.url)?.href === href);
    if (others.length > 0) {
      const hint = "`webhooks delete ID` takes one away; `webhooks rotate ID` gives it a new secret";
      const message = `the service already delivers there: each event will come ${others.length + 1} times`;
      context.log.warn(message, { subscriptions: others.map(({ id }) => String(id)), hint });
    }
    const here = deliversHere(url, company) || company.webhook.publicUrl === null;
    const keepOldMs = others.length > 0 ? null : defaultKeepOldMs;
    const plan = { scope, configPath: path, here, replaces: "stored", keepOldMs } as const;
    const input = { name: options.name ?? "fintoro-mirror", url, active: true, events };
    return receiveSecret(plan, () => subscriptions.create(input));
  });
};

export const rotateCommand: CommandRun<"webhooks rotate"> = async (context, { args, options, ...loaded }) => {
  const id = subscriptionId(args);
  const scope = withToken(soleScope(context, loaded.config), options.tokenEnv);
  const { company } = scope;
  return withSubscriptions(scope, async (subscriptions) => {
    const all = await subscriptions.list();
    const chosen = subscriptionWith(id, all);
    const onlyOne = company.webhook.publicUrl === null && all.length === 1;
    const here = onlyOne || deliversHere(chosen.url, company);
    // With several subscriptions that deliver here, the stored secret may be of any of them: it stays accepted.
    const shared = all.some((one) => one.id !== chosen.id && deliversHere(one.url, company));
    const keepOldMs = shared ? null : (options.keepOld ?? defaultKeepOldMs);
    const replaces = shared ? "stored" : "all";
    const plan = { scope, configPath: loaded.path, here, replaces, keepOldMs } as const;
    return receiveSecret(plan, () => subscriptions.rotate(chosen.id));
  });
};

export const updateCommand: CommandRun<"webhooks update"> = async (context, { args, options, config }) => {
  const id = subscriptionId(args);
  const scope = withToken(soleScope(context, config), options.tokenEnv);
  const change = changeOf(scope, options);
  if (change.url !== undefined) await assertEndpoint(scope, change.url);
  const changed = await withSubscriptions(scope, async (subscriptions) => {
    const { name, url, active, events } = subscriptionWith(id, await subscriptions.list());
    return subscriptions.update(id, { name, url, active, events, ...change });
  });
  const subscription = viewOfSubscription(changed, scope);
  const company = scope.company.name;
  await context.print({ company, subscription }, subscriptionLines(company, subscription));
  return "complete";
};

function changeOf(
  { declaration }: CompanyScope,
  { url, events, active, name }: CommandOptions<"webhooks update">,
): Partial<SubscriptionInput> {
  const change: Partial<SubscriptionInput> = {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events: eventsNamed(events, declaration.events) }),
    ...(active !== "unchanged" && { active: active === "on" }),
    ...(name !== undefined && { name: name || null }),
  };
  if (Object.keys(change).length > 0) return change;
  throw new MirrorError("usage", "nothing to change: give --url, --events, --active or --name");
}

export const deleteCommand: CommandRun<"webhooks delete"> = async (context, { args, options, config }) => {
  const id = subscriptionId(args);
  const scope = withToken(soleScope(context, config), options.tokenEnv);
  const unasked = `deleting subscription ${id} must be confirmed, and nobody is here: give --yes`;
  if (!options.yes && !context.prompts) throw new MirrorError("usage", unasked);
  return withSubscriptions(scope, async (subscriptions) => {
    const chosen = subscriptionWith(id, await subscriptions.list());
    const question = `Delete subscription ${id}, which delivers to ${shortText(chosen.url)}?`;
    if (!options.yes && !(await context.prompts?.confirm(question))) {
      context.log.warn("nothing was deleted");
      return "failed";
    }
    await subscriptions.remove(id);
    const { name } = scope.company;
    await context.print({ company: name, deleted: id }, [`${name}: subscription ${id} is deleted`]);
    return "complete";
  });
};

/** Parses `--events`, `all` or names with commas between them, in the connector's order. Throws `usage` for an unknown event. */
function eventsNamed(text: string, rules: readonly EventRule[]): string[] {
  const known = rules.map(({ type }) => type);
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  if (words.length === 0) throw new MirrorError("usage", "--events must name an event, or be all");
  if (words.includes("all")) return known;
  const hint = `there are ${someOf(known, 9)}; in a config's folder \`webhooks list\` shows what is subscribed`;
  assertKnown("event", words, known, hint);
  return known.filter((type) => words.includes(type));
}

function subscriptionId([text = ""]: readonly string[]): RecordId {
  const id = recordId(text);
  if (id !== null) return id;
  throw new MirrorError("usage", `"${text}" is not the id of a subscription: that is a number`, {
    hint: "`webhooks list` shows them",
  });
}

function subscriptionWith(id: RecordId, all: readonly Subscription[]): Subscription {
  const found = all.find((one) => one.id === id);
  if (found) return found;
  const hint = all.length === 0 ? "there are none" : `there are ${all.map((one) => one.id).join(", ")}`;
  throw new MirrorError("not_found", `there is no subscription ${id}`, { hint });
}

interface SecretPlan {
  readonly scope: CompanyScope;
  readonly configPath: string;
  /** The subscription delivers to this config's receiver. Otherwise the secret is only printed. */
  readonly here: boolean;
  /** Which secrets end: all, those that had no end included, or only the one in the file that is replaced. */
  readonly replaces: "all" | "stored";
  /** How long the old secrets stay accepted; null: without an end. */
  readonly keepOldMs: number | null;
}

/**
 * Asks the service for a secret with `ask`, stores it and prints it. The secrets it replaces are remembered
 * first, so that no delivery is refused in between. The new one is written to the disk before anything else,
 * and printed even when that failed.
 */
async function receiveSecret(plan: SecretPlan, ask: () => Promise<IssuedSecret>) {
  const { context, company } = plan.scope;
  const { places } = company.webhook;
  // Where a new one belongs: the first file in the config, else its first other place.
  const place = plan.here ? (places.find(({ kind }) => kind === "file") ?? places[0] ?? null) : null;
  const file = place?.kind === "file" ? place.path : null;
  if (file !== null) finishInterrupted(plan, file);
  const oldUntil = plan.here ? retireOld(plan, file) : undefined;
  const pending = file === null ? null : openPendingKey(file);
  const issued = await ask().catch((error: unknown) => {
    pending?.discard();
    throw error;
  });
  const { secret } = issued;
  const failure = pending?.store(secret) ?? null;
  context.onSecrets([secret]);
  const subscription = viewOfSubscription(issued.subscription, plan.scope);
  const next = [nextStepText(plan, place, failure)];
  if (oldUntil === null)
    next.push("another subscription delivers here as well: the secret that was stored before stays accepted");
  else if (oldUntil !== undefined)
    next.push(`deliveries signed with the old secret are accepted until ${oldUntil}`);
  const kept = { secret, stored: failure === null ? file : null, old_accepted_until: oldUntil };
  const lines = [...subscriptionLines(company.name, subscription), `secret: ${secret}`, ...next];
  await context.print({ company: company.name, subscription, ...kept, next }, lines);
  if (failure === null) return "complete";
  const hint = `The secret stands on stdout, this once. Put it into ${file} yourself, mode 0600.`;
  context.log.error(`the secret could not be stored: ${failure}`, { hint });
  return "failed";
}

/** Stores a secret that an earlier call received and could not put into its file, after a crash for example. */
function finishInterrupted(plan: SecretPlan, file: string): void {
  const { log } = plan.scope.context;
  const left = readPendingKey(file);
  if (left === null) return;
  remember(plan, [readKey(file), left]);
  try {
    storePendingKey(file);
    log.warn(`a secret that was received before and not put in its place is now in ${file}`);
  } catch (error) {
    log.warn(`a secret that was received before cannot be put into ${file}`, { error });
  }
}

const defaultKeepOldMs = dayMs;

/** Remembers the old secrets. Returns until when they are accepted, null without an end; undefined when there are none. */
function retireOld(plan: SecretPlan, file: string | null): string | null | undefined {
  const { company, files } = plan.scope;
  const stored = file === null ? null : readKey(file);
  if (plan.replaces === "stored") return remember(plan, [stored]);
  const own = company.webhook.secrets.flatMap((secret) => (secret.known ? secret.reveal() : []));
  const endless = retiredKeysIn(files.secrets).filter(({ until }) => until === null);
  return remember(plan, [stored, ...own, ...endless.map(({ secret }) => secret)]);
}

function remember(
  { scope: { context, config, files }, keepOldMs }: SecretPlan,
  texts: readonly (string | null)[],
): string | null | undefined {
  const old = [...new Set(texts.filter((text) => text !== null))];
  if (old.length === 0) return undefined;
  context.onSecrets(old);
  const nowMs = context.clock.nowMs();
  const untilMs = keepOldMs === null ? null : nowMs + keepOldMs;
  makeFolders(config.dataDir);
  retireKeys(files.secrets, old, { nowMs, untilMs });
  return isoOrNull(untilMs);
}

function nextStepText(
  { scope: { company }, configPath, here }: SecretPlan,
  place: SecretPlace | null,
  failure: string | null,
): string {
  if (!here)
    return "it does not deliver to this config's receiver: give the secret to the one that it delivers to";
  if (place?.kind === "file") {
    if (failure === null) return `stored in ${place.path}; a running \`serve\` takes it up by itself`;
    return `put the secret into ${place.path} yourself, for nobody else to read (mode 0600)`;
  }
  if (place?.kind === "environment")
    return `set ${place.name} to the secret where \`serve\` is started, then restart it`;
  const where = `companies.${company.name}.webhook.secrets in ${configPath}`;
  if (place) return `put the secret in its place in ${where}, then reload \`serve\` (SIGHUP)`;
  const entry = "${env:FINTORO_WEBHOOK_SECRET}";
  return `add "${entry}" to ${where}, set FINTORO_WEBHOOK_SECRET to the secret where \`serve\` is started, then start it`;
}

/**
 * The scope with the token of this call: of the environment variable, else of the config. The config has it among
 * its secrets, so that errors redact it.
 * @throws MirrorError `usage` when the variable is not set
 */
function withToken(scope: CompanyScope, variable: string | undefined): CompanyScope {
  if (variable === undefined) return scope;
  const { env, onSecrets } = scope.context;
  const token = Object.hasOwn(env, variable) ? (env[variable] ?? "").trim() : "";
  if (token === "")
    throw new MirrorError("usage", `--token-env: the environment variable ${variable} is not set`);
  onSecrets([token]);
  const company = { ...scope.company, token: new Secret(token) };
  const companies = scope.config.companies.map((one) => (one.name === company.name ? company : one));
  return { ...scope, company, config: { ...scope.config, companies } };
}

/** How the service lets subscriptions be made. Throws MirrorError `usage` where it does not. */
function operationsOf({ declaration: { title, webhooks } }: CompanyScope): SubscriptionOperations {
  if (!webhooks) throw new MirrorError("usage", `${title} sends no events`);
  if (webhooks.subscriptions) return webhooks.subscriptions;
  throw new MirrorError("usage", `subscriptions of ${title} are not made here`, {
    hint: `Make one at ${title}: webhook.public_url of the company is its address, a long random text its Authorization and webhook.secrets.`,
  });
}

/** Gives `work` the subscriptions of one company. Requests take permits from the budget that all processes share. */
async function withSubscriptions<T>(
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

type SubscriptionView = ReturnType<typeof viewOfSubscription>;

/** Describes a subscription; `here`: it delivers to this config's receiver. */
function viewOfSubscription(one: Subscription, { company, declaration }: CompanyScope) {
  const [here, missing_events] = [deliversHere(one.url, company), missingEvents(one, declaration.events)];
  return { ...one, here, missing_events };
}

function subscriptionLines(company: string, view: SubscriptionView): string[] {
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
