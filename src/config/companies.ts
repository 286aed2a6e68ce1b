import { MirrorError } from "../base/errors.ts";
import { onceFor } from "../base/once-for.ts";
import { assertKnown, someOf } from "../base/names.ts";
import { Secret } from "../base/secret.ts";
import type { ConnectorDeclaration } from "../connector/connector-declaration.ts";
import type { CompanyConfig, Config } from "./config.ts";
import { postgresSecrets } from "./fleet-section.ts";
import { rereadSecret } from "./secrets.ts";

/** The companies a command works on: all, or those named by `--company`, with commas between them. Throws MirrorError `usage`. */
export function chosenCompanies(config: Config, name?: string): readonly CompanyConfig[] {
  if (name === undefined) return config.companies;
  const wanted = name.split(",");
  const names = config.companies.map((company) => company.name);
  assertKnown("company", wanted, names, `the config has ${someOf(names, 24)}`);
  return config.companies.filter((company) => wanted.includes(company.name));
}

/** The company of a command that works on a single one. Throws MirrorError `usage` where there are several. */
export function soleCompany(config: Config, name?: string): CompanyConfig {
  const [company, another] = chosenCompanies(config, name);
  if (company && !another) return company;
  const names = config.companies.map((one) => one.name).join(", ");
  throw new MirrorError("usage", "the config has several companies", {
    hint: `name one with --company: ${names}`,
  });
}

/** The config's resources in the connector's order, or those of the command line and what they own. Throws MirrorError `usage` for another name. */
export function selectResources(
  declaration: ConnectorDeclaration,
  choice: Config["resources"],
  names: readonly string[] = [],
) {
  const known = declaration.resources.map(({ name }) => name);
  assertKnown("table", names, known, "`fintoro-mirror schema --tables` lists them all");
  const isNamed = (name: string) => names.includes(name);
  return declaration.resources.filter(({ name, list }) => {
    const isChosen = choice.include?.includes(name) ?? !choice.exclude.includes(name);
    // What comes with a named record is read with it: else it would be missing until that is read again.
    const comesWithNamed = list.kind === "owned" && list.by.some(({ resource }) => isNamed(resource));
    return isNamed(name) || (isChosen && (names.length === 0 || comesWithNamed));
  });
}

/** The company with the token that its file holds now; null: the file holds the same, or no token. */
export function withChangedToken(company: CompanyConfig): CompanyConfig | null {
  const token = rereadSecret(company.tokenPlace, company.token);
  const isSame = company.token.known && company.token.reveal() === token?.reveal();
  return token === null || isSame ? null : { ...company, token };
}

/** Every secret whose text is known: no log line may show one. The same list for each company of a config. */
export const secretTexts = onceFor(readTexts);

function readTexts(config: Config): readonly string[] {
  const { alerts, notify, companies, fleet } = config;
  // Where the file itself holds an address, it is none, but for the password of Postgres.
  const addresses = [...alerts, ...notify].flatMap(({ url }) =>
    url?.place.kind === "config" ? url.secret : [],
  );
  const open = new Set([...addresses, ...(fleet ? [fleet.postgres.secret] : [])]);
  const secrets = secretsIn(config).filter((secret) => secret.known && !open.has(secret));
  const texts = secrets.map((secret) => secret.reveal());
  const halves = companies.some(({ account }) => account !== null)
    ? texts.flatMap((text) => text.split("|"))
    : [];
  const ofPostgres = fleet ? postgresSecrets(fleet.postgres.secret) : [];
  return [...new Set([...texts, ...halves, ...ofPostgres])];
}

/** Whatever key they have: a new one cannot be left out. */
function secretsIn(part: unknown): readonly Secret[] {
  if (part instanceof Secret) return [part];
  return part === null || typeof part !== "object" ? [] : Object.values(part).flatMap(secretsIn);
}

/**
 * Writes a config as a process has it in memory, with one company, its token, where its webhook secrets are, nowhere
 * to send to and no fleet. Only for a pipe to a child process: nobody else can read that (I9).
 */
export function formatEffectiveConfig(config: Config, company: CompanyConfig): string {
  const { token, webhook } = company;
  const known = token.known ? { text: token.reveal() } : { problem: token.problem };
  const one = { ...company, token: known, webhook: { ...webhook, secrets: [] } };
  return JSON.stringify({ ...config, companies: [one], alerts: [], notify: [], fleet: null });
}

/** Reads what `formatEffectiveConfig` wrote. Throws SyntaxError for any other text. */
export function parseEffectiveConfig(text: string): Config {
  // The same version of this program wrote it, from a checked config.
  const { companies, ...config } = JSON.parse(text) as Omit<Config, "companies"> & {
    readonly companies: readonly (Omit<CompanyConfig, "token"> & {
      readonly token: { readonly text?: string; readonly problem?: string };
    })[];
  };
  const revived = companies.map(({ token: { text: known, problem }, ...company }) => {
    const missing = new MirrorError("config", problem ?? "the token is missing");
    return { ...company, token: known === undefined ? new Secret(missing) : new Secret(known) };
  });
  return { ...config, companies: revived };
}
