import { MirrorError } from "../base/errors.ts";
import { Secret } from "../base/secret.ts";
import type { CompanyConfig, Config } from "./config.ts";

/**
 * Writes a config as a process has it in memory, with one company, its token, where its webhook secrets are, and no
 * alerts. Only for a pipe to a child process: nobody else can read that (I9).
 */
export function formatEffectiveConfig(config: Config, company: CompanyConfig): string {
  const { name, token, tokenPlace, webhook } = company;
  const known = token.known ? { text: token.reveal() } : { problem: token.problem };
  const { publicUrl, places } = webhook;
  const one = { name, token: known, tokenPlace, webhook: { secrets: [], places, publicUrl } };
  return JSON.stringify({ ...config, companies: [one], alerts: [] });
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
    return { ...company, token: known === undefined ? Secret.absent(missing) : Secret.of(known) };
  });
  return { ...config, companies: revived };
}
