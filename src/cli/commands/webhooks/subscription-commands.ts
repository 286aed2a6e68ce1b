import { MirrorError } from "../../../base/errors.ts";
import { shortText } from "../../../base/terminal-text.ts";
import type { Subscription, SubscriptionInput } from "../../../webhook/subscriptions/subscription-client.ts";
import {
  deliversHere,
  expectedSubscriptions,
  subscriptionProblems,
} from "../../../webhook/subscriptions/subscription-problems.ts";
import { assertEndpoint } from "../upkeep/check.ts";
import { companyScopes, soleScope, type CompanyScope } from "../../mirror/company-scope.ts";
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
import { assertKnown, someOf } from "../../../base/names.ts";
import type { EventRule } from "../../../connector/connector-manifest.ts";
import { defaultKeepOldMs, receiveSecret } from "./issued-secret.ts";

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
  await context.print({ companies }, lines);
  return failure ? { kind: failure.kind } : "complete";
};

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
  const subscription = viewOfSubscription(changed, scope);
  const company = scope.company.name;
  await context.print({ company, subscription }, subscriptionLines(company, subscription));
  return "complete";
};

function changeOf(
  { manifest }: CompanyScope,
  { url, events, active, name }: CommandOptions<"webhooks update">,
): Partial<SubscriptionInput> {
  const change: Partial<SubscriptionInput> = {
    ...(url !== undefined && { url }),
    ...(events !== undefined && { events: eventsNamed(events, manifest.events) }),
    ...(active !== "unchanged" && { active: active === "on" }),
    ...(name !== undefined && { name: name || null }),
  };
  if (Object.keys(change).length > 0) return change;
  throw new MirrorError("usage", "nothing to change: give --url, --events, --active or --name");
}

export const deleteCommand: CommandRun<"webhooks delete"> = async (context, { args, options, loaded }) => {
  const id = subscriptionId(args);
  const scope = withToken(soleScope(context, loaded.config), options.tokenEnv);
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
