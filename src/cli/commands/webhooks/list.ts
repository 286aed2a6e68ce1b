import { MirrorError } from "../../../base/errors.ts";
import type { Log } from "../../../base/logger.ts";
import { chosenCompanies } from "../../../config/companies.ts";
import type { CompanyConfig, Config } from "../../../config/config.ts";
import { printResult } from "../../console/output.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandRun } from "../../program/command-table.ts";
import type { Ending } from "../../program/exit-code.ts";
import { companyAs, withSubscriptions } from "./access.ts";
import { subscriptionLines, viewOfSubscription, type SubscriptionView } from "./subscription-text.ts";

export const webhooksListCommand: CommandRun<"webhooksList"> = async (
  context,
  { options, loaded: { config } },
) => {
  const chosen = chosenCompanies(config, context.globals.company);
  if (options.tokenEnv !== undefined && chosen.length > 1)
    throw new MirrorError("usage", "--token-env is of one company: name it with --company");
  const found = new Map<string, readonly SubscriptionView[]>();
  const failed: MirrorError[] = [];
  for (const company of chosen) {
    const views = await viewsOf(context, config, companyAs(context, company, options.tokenEnv), failed);
    if (!views) continue;
    found.set(company.name, views);
    warnOfSilence(context.log, company, views);
  }
  await print(context, found);
  return endOf(failed);
};

/** Warns when the config expects deliveries and no active subscription sends them. */
function warnOfSilence(log: Log, { name, webhook }: CompanyConfig, views: readonly SubscriptionView[]): void {
  if (webhook.publicUrl === null || views.some(({ here, active }) => here && active)) return;
  log.warn(`${name}: the service delivers nothing to ${webhook.publicUrl}`, {
    hint: "`webhooks create` makes a subscription, `webhooks update ID --active on` wakes one that is off",
  });
}

/** A company that fails is logged, and the others are still listed. Null for a failed one. */
async function viewsOf(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  failed: MirrorError[],
): Promise<readonly SubscriptionView[] | null> {
  const { events } = context.connectors[0].manifest;
  try {
    const all = await withSubscriptions(context, config, company, (subscriptions) => subscriptions.list());
    return all.map((one) => viewOfSubscription(one, company, events));
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    if (config.companies.length === 1) throw error;
    failed.push(error);
    context.log.error(`${company.name}: ${error.message}`, { kind: error.kind, hint: error.hint });
    return null;
  }
}

async function print(
  context: CommandContext,
  found: ReadonlyMap<string, readonly SubscriptionView[]>,
): Promise<void> {
  const companies = [...found].map(([name, subscriptions]) => [name, { subscriptions }] as const);
  const lines = [...found].flatMap(([name, views]) =>
    views.length === 0
      ? [`${name}: no subscription; \`webhooks create\` makes one`]
      : views.flatMap((view) => subscriptionLines(name, view)),
  );
  await printResult(context, { companies: Object.fromEntries(companies) }, lines);
}

function endOf([first]: readonly MirrorError[]): Ending {
  return first ? { kind: first.kind } : "complete";
}
