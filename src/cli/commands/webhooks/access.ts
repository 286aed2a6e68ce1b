import { MirrorError } from "../../../base/errors.ts";
import { Secret } from "../../../base/secret.ts";
import type { CompanyConfig, Config } from "../../../config/config.ts";
import type { Transport } from "../../../connector/transport.ts";
import { Meta } from "../../../state/meta.ts";
import { pinnedIdentity } from "../../../sync/identity/identify.ts";
import { fingerprintOf, type Identity } from "../../../sync/identity/identity-verdict.ts";
import { Subscriptions } from "../../../webhook/subscriptions/subscription-client.ts";
import type { CommandContext } from "../../program/command.ts";
import { openForReading } from "../../mirror/open-mirror.ts";
import { text } from "../../program/command-options.ts";
import { connectService } from "../../../daemon/runs/service-connection.ts";
import { askWhoami } from "../../mirror/whoami.ts";

/** Which token asks: managing subscriptions needs one that may write, mirroring does not. */
export const accessOptions = {
  tokenEnv: text(
    "--token-env <name>",
    "take the token from this environment variable, for this call only: subscriptions need scope write",
  ),
};

/** The company as this call goes about it: with the token that was asked for. */
export function companyAs(
  { env, keepSecret }: CommandContext,
  company: CompanyConfig,
  variable: string | undefined,
): CompanyConfig {
  if (variable === undefined) return company;
  const token = Object.hasOwn(env, variable) ? (env[variable] ?? "").trim() : "";
  if (token === "")
    throw new MirrorError("usage", `--token-env: the environment variable ${variable} is not set`);
  keepSecret([token]);
  return { ...company, token: Secret.of(token) };
}

/** Subscriptions of one company; every request takes its permit from the budget that all processes share. */
export async function withSubscriptions<T>(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  work: (subscriptions: Subscriptions) => Promise<T>,
): Promise<T> {
  const { random, signal } = context;
  const { manifest } = context.connectors[0];
  if (!manifest.webhooks) throw new MirrorError("usage", `${manifest.title} sends no events`);
  const operations = manifest.webhooks.subscriptions;
  const service = connectService(context, known(config, company), company);
  try {
    await assertSameCompany(context, config, company, service.transport);
    return await work(new Subscriptions({ transport: service.transport, operations, random, signal }));
  } finally {
    await service.close();
  }
}

/** The token of this call is among those that no error shows. */
function known(config: Config, company: CompanyConfig): Config {
  const companies = config.companies.map((one) => (one.name === company.name ? company : one));
  return { ...config, companies };
}

/** I10: nobody's subscriptions but those of the company that is mirrored. Asks only where the token is a new one. */
async function assertSameCompany(
  { connectors, signal }: CommandContext,
  config: Config,
  company: CompanyConfig,
  transport: Transport,
): Promise<void> {
  const pinned = pinnedIn(config, company);
  if (!pinned || fingerprintOf(company.token.reveal(), pinned.salt) === pinned.fingerprint) return;
  const { name } = await askWhoami(transport, connectors[0].manifest, signal);
  if (name === pinned.name) return;
  const whose = name === null ? "nobody that the service names" : `"${name}"`;
  throw new MirrorError(
    "identity",
    `this token belongs to another company: the mirror is of "${pinned.name}", this token of ${whose}`,
    { hint: "Nothing was changed. Take a token of the company that is mirrored." },
  );
}

function pinnedIn(config: Config, company: CompanyConfig): Identity | null {
  const db = openForReading(config, company);
  try {
    return db && pinnedIdentity(new Meta(db));
  } finally {
    db?.close();
  }
}
