import { MirrorError } from "../../../base/errors.ts";
import { soleCompany } from "../../../config/companies.ts";
import { deliversHere, eventsNamed } from "../../../webhook/subscriptions/event-choice.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { companyAs, withSubscriptions } from "./access.ts";
import { assertEndpoint } from "../../checks/webhook-endpoint.ts";
import { defaultKeepOldMs, receiveSecret } from "./issued-secret.ts";

export const webhooksCreateCommand: CommandRun<"webhooksCreate"> = async (
  context,
  { options, loaded: { config, path: configPath } },
) => {
  const company = companyAs(context, soleCompany(config, context.globals.company), options.tokenEnv);
  const url = options.url ?? company.webhook.publicUrl;
  if (url === null)
    throw new MirrorError("usage", "where should events go? The config has no public_url", {
      hint: `set companies.${company.name}.webhook.public_url, or give --url`,
    });
  const events = eventsNamed(options.events ?? "all", context.connectors[0].manifest.events);
  await assertEndpoint(context, config, url);
  return withSubscriptions(context, config, company, async (subscriptions) => {
    const others = (await subscriptions.list()).filter((one) => sameUrl(one.url, url));
    if (others.length > 0)
      context.log.warn(
        `the service already delivers there: each event will come ${others.length + 1} times`,
        {
          subscriptions: others.map(({ id }) => String(id)),
          hint: "`webhooks delete ID` takes one away; `webhooks rotate ID` gives it a new secret",
        },
      );
    const here = deliversHere(url, company) || company.webhook.publicUrl === null;
    const keepOldMs = others.length > 0 ? null : defaultKeepOldMs;
    const plan = { context, config, configPath, company, here, replaces: "stored", keepOldMs } as const;
    const input = { name: options.name ?? "fintoro-mirror", url, active: true, events };
    return receiveSecret(plan, () => subscriptions.create(input));
  });
};

function sameUrl(one: string, other: string): boolean {
  return URL.parse(one)?.href === URL.parse(other)?.href;
}
