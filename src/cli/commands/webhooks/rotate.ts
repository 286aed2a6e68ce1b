import { soleCompany } from "../../../config/companies.ts";
import {
  deliversHere,
  subscriptionId,
  subscriptionWith,
} from "../../../webhook/subscriptions/event-choice.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { companyAs, withSubscriptions } from "./access.ts";
import { defaultKeepOldMs, receiveSecret } from "./issued-secret.ts";

export const webhooksRotateCommand: CommandRun<"webhooksRotate"> = async (
  context,
  { args, options, loaded: { config, path: configPath } },
) => {
  const id = subscriptionId(args);
  const company = companyAs(context, soleCompany(config, context.globals.company), options.tokenEnv);
  return withSubscriptions(context, config, company, async (subscriptions) => {
    const all = await subscriptions.list();
    const chosen = subscriptionWith(id, all);
    const onlyOne = company.webhook.publicUrl === null && all.length === 1;
    const here = onlyOne || deliversHere(chosen.url, company);
    // With several subscriptions that deliver here, the stored secret may be of any of them: it stays accepted.
    const shared = all.some((one) => one.id !== chosen.id && deliversHere(one.url, company));
    const keepOldMs = shared ? null : (options.keepOld ?? defaultKeepOldMs);
    const replaces = shared ? "stored" : "all";
    const plan = { context, config, configPath, company, here, replaces, keepOldMs } as const;
    return receiveSecret(plan, () => subscriptions.rotate(chosen.id));
  });
};
