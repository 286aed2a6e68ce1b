import { MirrorError } from "../base/errors.ts";
import type { CompanyConfig, Config } from "./config.ts";
import { didYouMean } from "./config-values.ts";

/** Those that a command works on: all, or the one named by `--company`. */
export function chosenCompanies(config: Config, name?: string): readonly CompanyConfig[] {
  if (name === undefined) return config.companies;
  const chosen = config.companies.filter((company) => company.name === name);
  if (chosen.length > 0) return chosen;
  const names = config.companies.map((company) => company.name);
  throw new MirrorError("usage", `the config has no company "${name}"${didYouMean(name, names)}`, {
    hint: `it has ${names.join(", ")}`,
  });
}

/** The one that a command works on which is about a single one. */
export function soleCompany(config: Config, name?: string): CompanyConfig {
  const [company, another] = chosenCompanies(config, name);
  if (company && !another) return company;
  const names = config.companies.map((one) => one.name).join(", ");
  throw new MirrorError("usage", "the config has several companies", {
    hint: `name one with --company: ${names}`,
  });
}

/** Every secret that is at hand: what no line may show. */
export function secretTexts(config: Config): readonly string[] {
  const secrets = config.companies.flatMap((company) => [company.token, ...company.webhook.secrets]);
  return [...new Set(secrets.filter((secret) => secret.known).map((secret) => secret.reveal()))];
}
