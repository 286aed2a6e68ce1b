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
import { connectService } from "../../../daemon/runs/service-connection.ts";
import { askWhoami } from "../../mirror/whoami.ts";

/**
 * The company with the token of this call: of the environment variable, else of the config.
 * @throws MirrorError `usage` when the variable is not set
 */
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

/** Gives `work` the subscriptions of one company. Requests take permits from the budget that all processes share. */
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
  const service = connectService(context, withToken(config, company), company);
  try {
    await assertSameCompany(context, config, company, service.transport);
    return await work(new Subscriptions({ transport: service.transport, operations, random, signal }));
  } finally {
    await service.close();
  }
}

/** The config with this call's token among its secrets, so that errors redact it. */
function withToken(config: Config, company: CompanyConfig): Config {
  const companies = config.companies.map((one) => (one.name === company.name ? company : one));
  return { ...config, companies };
}

/** I10: refuses another company's token. A request is made only when the token is not the pinned one. */
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
