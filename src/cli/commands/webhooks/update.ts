import { MirrorError } from "../../../base/errors.ts";
import { soleCompany } from "../../../config/companies.ts";
import type { EventRule } from "../../../connector/connector-manifest.ts";
import {
  eventsNamed,
  subscriptionId,
  subscriptionWith,
} from "../../../webhook/subscriptions/event-choice.ts";
import type { SubscriptionInput } from "../../../webhook/subscriptions/subscription-client.ts";
import { printResult } from "../../console/output.ts";
import type { CommandOptions, CommandRun } from "../../program/command-table.ts";
import { companyAs, withSubscriptions } from "./access.ts";
import { assertEndpoint } from "../../checks/webhook-endpoint.ts";
import { subscriptionLines, viewOfSubscription } from "./subscription-text.ts";

export const webhooksUpdateCommand: CommandRun<"webhooksUpdate"> = async (
  context,
  { args, options, loaded: { config } },
) => {
  const id = subscriptionId(args);
  const { events: rules } = context.connectors[0].manifest;
  const company = companyAs(context, soleCompany(config, context.globals.company), options.tokenEnv);
  const change = changeOf(options, rules);
  if (change.url !== undefined) await assertEndpoint(context, config, change.url);
  const changed = await withSubscriptions(context, config, company, async (subscriptions) => {
    const { name, url, active, events } = subscriptionWith(id, await subscriptions.list());
    return subscriptions.update(id, { name, url, active, events, ...change });
  });
  const view = viewOfSubscription(changed, company, rules);
  const lines = subscriptionLines(company.name, view);
  await printResult(context, { company: company.name, subscription: view }, lines);
  return "complete";
};

function changeOf(
  { url, events, active, name }: CommandOptions<"webhooksUpdate">,
  rules: readonly EventRule[],
): Partial<SubscriptionInput> {
  const change: Partial<SubscriptionInput> = {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events: eventsNamed(events, rules) }),
    ...(active === "unchanged" ? {} : { active: active === "on" }),
    ...(name === undefined ? {} : { name: name === "" ? null : name }),
  };
  if (Object.keys(change).length > 0) return change;
  throw new MirrorError("usage", "nothing to change: give --url, --events, --active or --name");
}
