import { MirrorError } from "../../../base/errors.ts";
import { soleCompany } from "../../../config/companies.ts";
import type { EventRule } from "../../../connector/connector-manifest.ts";
import {
  eventsNamed,
  subscriptionId,
  subscriptionWith,
} from "../../../webhook/subscriptions/event-choice.ts";
import type { Subscription, SubscriptionInput } from "../../../webhook/subscriptions/subscription-client.ts";
import type { CommandOptions, CommandRun } from "../command-table.ts";
import { companyAs, withSubscriptions } from "./access.ts";
import { assertEndpoint } from "../../checks/assert-endpoint.ts";
import { subscriptionLines, viewOf } from "./subscription-text.ts";

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
  await print(viewOf(changed, company, rules));
  return "complete";

  async function print(view: ReturnType<typeof viewOf>): Promise<void> {
    if (context.globals.json) await context.output.json({ company: company.name, subscription: view });
    else for (const line of subscriptionLines(company.name, view)) await context.output.line(line);
  }
};

type Change = Partial<SubscriptionInput>;

function changeOf(
  { url, events, active, name }: CommandOptions<"webhooksUpdate">,
  rules: readonly EventRule[],
): Change {
  const change: Change = {
    ...(url === undefined ? {} : { url }),
    ...(events === undefined ? {} : { events: eventsNamed(events, rules) }),
    ...(active === "unchanged" ? {} : { active: active === "on" }),
    ...(name === undefined ? {} : { name: name === "" ? null : name }),
  } satisfies Partial<Subscription>;
  if (Object.keys(change).length > 0) return change;
  throw new MirrorError("usage", "nothing to change: give --url, --events, --active or --name");
}
