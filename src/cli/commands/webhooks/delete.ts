import { MirrorError } from "../../../base/errors.ts";
import { soleCompany } from "../../../config/companies.ts";
import { subscriptionId, subscriptionWith } from "../../../webhook/subscriptions/event-choice.ts";
import type { Subscription } from "../../../webhook/subscriptions/subscription-client.ts";
import { printResult } from "../../console/output.ts";
import type { CommandContext } from "../../program/command.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { companyAs, withSubscriptions } from "./access.ts";

export const webhooksDeleteCommand: CommandRun<"webhooksDelete"> = async (
  context,
  { args, options, loaded: { config } },
) => {
  const id = subscriptionId(args);
  const company = companyAs(context, soleCompany(config, context.globals.company), options.tokenEnv);
  if (!options.yes && !context.ask)
    throw new MirrorError("usage", "nobody is here to confirm it: give --yes");
  const deleted = await withSubscriptions(context, config, company, async (subscriptions) => {
    const chosen = subscriptionWith(id, await subscriptions.list());
    if (!options.yes && !(await confirmed(context, chosen))) return null;
    await subscriptions.remove(chosen.id);
    return chosen.id;
  });
  if (deleted === null) {
    context.log.warn("nothing was deleted");
    return "failed";
  }
  const line = `${company.name}: subscription ${deleted} is deleted`;
  await printResult(context, { company: company.name, deleted }, [line]);
  return "complete";
};

async function confirmed({ ask }: CommandContext, { id, url }: Subscription): Promise<boolean> {
  const answer = (await ask?.(`Delete subscription ${id}, which delivers to ${url}? [y/N] `)) ?? "";
  return /^\s*y(es)?\s*$/i.test(answer);
}
