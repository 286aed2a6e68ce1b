import { MirrorError } from "../../../base/errors.ts";
import { shortText } from "../../../base/terminal-text.ts";
import type {
  Subscription,
  SubscriptionInput,
  IssuedSecret,
} from "../../../webhook/subscriptions/subscription-client.ts";
import {
  deliversHere,
  expectedSubscriptions,
  subscriptionProblems,
} from "../../../webhook/subscriptions/subscription-problems.ts";
import { assertEndpoint } from "../upkeep/check.ts";
import { printResult } from "../../console/output.ts";
import { companyScopes, soleScope, type CompanyScope } from "../../mirror/company-scope.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandOptions, CommandRun } from "../../program/command-table.ts";
import {
  operationsOf,
  subscriptionLines,
  viewOfSubscription,
  withSubscriptions,
  withToken,
  type SubscriptionView,
} from "./subscriptions.ts";
import { recordId, type RecordId } from "../../../base/ids.ts";
import { someOf, unknownName } from "../../../base/names.ts";
import type { EventRule } from "../../../connector/connector-manifest.ts";
import { makeFolders } from "../../../base/files/atomic-file.ts";
import { isoTime } from "../../../base/clock.ts";
import type { CompanyConfig } from "../../../config/config.ts";
import type { SecretPlace } from "../../../config/secrets.ts";
import {
  openPendingKey,
  readKey,
  readPendingKey,
  retireKeys,
  storePendingKey,
} from "../../../webhook/keys/key-files.ts";
import type { CommandEnding } from "../../program/exit-code.ts";

/** Lists every company's subscriptions. A company that fails is logged, and the others are still listed. */
export const listCommand: CommandRun<"webhooks list"> = async (context, { options, loaded }) => {
  const scopes = companyScopes(context, loaded.config);
  if (options.tokenEnv !== undefined && scopes.length > 1)
    throw new MirrorError("usage", "--token-env is of one company: name it with --company");
  const companies: Record<string, { subscriptions: SubscriptionView[]; problems: string[] }> = {};
  const lines: string[] = [];
  let failure: MirrorError | null = null;
  for (const each of scopes) {
    const scope = withToken(each, options.tokenEnv);
    const { name } = scope.company;
    try {
      const all = await withSubscriptions(scope, (subscriptions) => subscriptions.list());
      const views = all.map((one) => viewOfSubscription(one, scope));
      companies[name] = { subscriptions: views, problems: warnOfProblems(scope, all) };
      if (views.length === 0) lines.push(`${name}: no subscription; \`webhooks create\` makes one`);
      lines.push(...views.flatMap((view) => subscriptionLines(name, view)));
    } catch (error) {
      if (!(error instanceof MirrorError) || loaded.config.companies.length === 1) throw error;
      failure ??= error;
      context.log.error(`${name}: ${error.message}`, { kind: error.kind, hint: error.hint });
    }
  }
  await printResult(context, { companies }, lines);
  return failure ? { kind: failure.kind } : "complete";
};

/** Warns of what keeps events from coming, and gives it. */
function warnOfProblems(
  { context, company, manifest, resources }: CompanyScope,
  all: readonly Subscription[],
): string[] {
  const expected = expectedSubscriptions(company, manifest, resources);
  const problems = expected ? subscriptionProblems({ ...expected, all, lastReceivedMs: null }) : [];
  const hint =
    "`webhooks create` makes a subscription, `webhooks update ID --active on` wakes one that is off, `--events all` gives it all events";
  for (const problem of problems) context.log.warn(`${company.name}: ${problem}`, { hint });
  return problems;
}

export const createCommand: CommandRun<"webhooks create"> = async (context, { options, loaded }) => {
  const scope = withToken(soleScope(context, loaded.config), options.tokenEnv);
  const { company, manifest } = scope;
  operationsOf(scope);
  const url = options.url ?? company.webhook.publicUrl;
  if (url === null)
    throw new MirrorError("usage", "where should events go? The config has no public_url", {
      hint: `set companies.${company.name}.webhook.public_url, or give --url`,
    });
  const events = eventsNamed(options.events ?? "all", manifest.events);
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
    const plan = { scope, configPath: loaded.path, here, replaces: "stored", keepOldMs } as const;
    const input = { name: options.name ?? "fintoro-mirror", url, active: true, events };
    return receiveSecret(plan, () => subscriptions.create(input));
  });
};

export const rotateCommand: CommandRun<"webhooks rotate"> = async (context, { args, options, loaded }) => {
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

export const updateCommand: CommandRun<"webhooks update"> = async (context, { args, options, loaded }) => {
  const id = subscriptionId(args);
  const scope = withToken(soleScope(context, loaded.config), options.tokenEnv);
  const change = changeOf(scope, options);
  if (change.url !== undefined) await assertEndpoint(scope, change.url);
  const changed = await withSubscriptions(scope, async (subscriptions) => {
    const { name, url, active, events } = subscriptionWith(id, await subscriptions.list());
    return subscriptions.update(id, { name, url, active, events, ...change });
  });
  const view = viewOfSubscription(changed, scope);
  const { name } = scope.company;
  await printResult(context, { company: name, subscription: view }, subscriptionLines(name, view));
  return "complete";
};

function changeOf(
  { manifest }: CompanyScope,
  { url, events, active, name }: CommandOptions<"webhooks update">,
): Partial<SubscriptionInput> {
  const change: Partial<SubscriptionInput> = {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events: eventsNamed(events, manifest.events) }),
    ...(active === "unchanged" ? {} : { active: active === "on" }),
    ...(name === undefined ? {} : { name: name === "" ? null : name }),
  };
  if (Object.keys(change).length > 0) return change;
  throw new MirrorError("usage", "nothing to change: give --url, --events, --active or --name");
}

export const deleteCommand: CommandRun<"webhooks delete"> = async (context, { args, options, loaded }) => {
  const id = subscriptionId(args);
  const scope = withToken(soleScope(context, loaded.config), options.tokenEnv);
  if (!options.yes && !context.prompts)
    throw new MirrorError(
      "usage",
      `deleting subscription ${id} must be confirmed, and nobody is here: give --yes`,
    );
  const deleted = await withSubscriptions(scope, async (subscriptions) => {
    const chosen = subscriptionWith(id, await subscriptions.list());
    if (!options.yes && !(await isConfirmed(context, chosen))) return null;
    await subscriptions.remove(chosen.id);
    return chosen.id;
  });
  const { name } = scope.company;
  if (deleted === null) {
    context.log.warn("nothing was deleted");
    return "failed";
  }
  await printResult(context, { company: name, deleted }, [`${name}: subscription ${deleted} is deleted`]);
  return "complete";
};

async function isConfirmed({ prompts }: CommandContext, { id, url }: Subscription): Promise<boolean> {
  const question = `Delete subscription ${id}, which delivers to ${shortText(url)}?`;
  return (await prompts?.confirm(question)) ?? false;
}

/**
 * Parses `--events`: `all`, or names with commas between them.
 *
 * @returns event types in the manifest's order
 * @throws MirrorError `usage` for an unknown event
 */
function eventsNamed(text: string, rules: readonly EventRule[]): string[] {
  const known = rules.map(({ type }) => type);
  const words = text.split(/[\s,]+/).filter((word) => word !== "");
  if (words.length === 0) throw new MirrorError("usage", "--events must name an event, or be all");
  if (words.includes("all")) return known;
  const unknown = words.find((word) => !known.includes(word));
  if (unknown === undefined) return known.filter((type) => words.includes(type));
  throw new MirrorError("usage", unknownName("event", unknown, known), {
    hint: `there are ${someOf(known, 9)}; in a config's folder \`webhooks list\` shows what is subscribed`,
  });
}

/** Parses the id given to a command. Throws MirrorError `usage`. */
function subscriptionId([text = ""]: readonly string[]): RecordId {
  const id = recordId(text);
  if (id !== null) return id;
  throw new MirrorError("usage", `"${text}" is not the id of a subscription: that is a number`, {
    hint: "`webhooks list` shows them",
  });
}

/** The subscription with this id. Throws MirrorError `not_found`. */
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
  /** Which secrets end: all of the config, or only the one in the file that is replaced. */
  readonly replaces: "all" | "stored";
  /** How long the old secrets stay accepted; null: without an end. */
  readonly keepOldMs: number | null;
}

/**
 * Asks the service for a secret with `ask`, stores it and prints it. The secrets it replaces are remembered
 * first, so that no delivery is refused in between. The new one is written to the disk before anything else,
 * and printed even when that failed.
 */
async function receiveSecret(plan: SecretPlan, ask: () => Promise<IssuedSecret>): Promise<CommandEnding> {
  const place = plan.here ? placeFor(plan.scope.company) : null;
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
  const { context, company } = plan.scope;
  context.keepSecret([secret]);
  const subscription = viewOfSubscription(issued.subscription, plan.scope);
  const next = [nextStepText(plan, failure), ...(oldUntil === undefined ? [] : [oldSecretText(oldUntil)])];
  const kept = { secret, stored: failure === null ? file : null, old_accepted_until: oldUntil };
  const lines = [...subscriptionLines(company.name, subscription), `secret: ${secret}`, ...next];
  await printResult(context, { company: company.name, subscription, ...kept, next }, lines);
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
  remember(plan, [readKey(file), left], defaultKeepOldMs);
  try {
    storePendingKey(file);
    log.warn(`a secret that was received before and not put in its place is now in ${file}`);
  } catch (error) {
    log.warn(`a secret that was received before cannot be put into ${file}`, { error });
  }
}

const defaultKeepOldMs = 86_400_000;

/** Remembers the old secrets. Returns until when they are accepted, null without an end; undefined when there are none. */
function retireOld(plan: SecretPlan, file: string | null): string | null | undefined {
  const { secrets } = plan.scope.company.webhook;
  const own = plan.replaces === "all" ? secrets.filter(({ known }) => known) : [];
  const texts = [file === null ? null : readKey(file), ...own.map((secret) => secret.reveal())];
  return remember(plan, texts, plan.keepOldMs);
}

function remember(
  { scope: { context, config, files } }: SecretPlan,
  texts: readonly (string | null)[],
  keepMs: number | null,
): string | null | undefined {
  const old = [...new Set(texts.filter((text) => text !== null))];
  if (old.length === 0) return undefined;
  context.keepSecret(old);
  const nowMs = context.clock.nowMs();
  const untilMs = keepMs === null ? null : nowMs + keepMs;
  makeFolders(config.dataDir);
  retireKeys(files.secrets, old, { nowMs, untilMs });
  return untilMs === null ? null : isoTime(untilMs);
}

/** Where a new secret of this company belongs: the first file in the config, else its first other place. */
function placeFor({ webhook }: CompanyConfig): SecretPlace | null {
  const { places } = webhook;
  return places.find(({ kind }) => kind === "file") ?? places[0] ?? null;
}

/** What was done with the secret, or what the reader has to do. Pure. */
function nextStepText({ scope: { company }, configPath, here }: SecretPlan, failure: string | null): string {
  const place = placeFor(company);
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

function oldSecretText(until: string | null): string {
  if (until === null)
    return "another subscription delivers here as well: the secret that was stored before stays accepted";
  return `deliveries signed with the old secret are accepted until ${until}`;
}
