import { MirrorError } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import { failureOf } from "../console/failure-text.ts";
import { companyScopes, type CompanyScope } from "../mirror/company-scope.ts";
import type { CommandContext } from "../program/command.ts";
import type { Outcome } from "../program/exit-code.ts";

/**
 * Makes files of each chosen company with `work`, which gives the result for `--json`; prints the one document.
 * A company that fails is logged and does not keep the others from their files.
 * @throws the error of a single company, a usage error, and what follows a signal
 */
export async function forEachCompany(
  context: CommandContext,
  config: Config,
  work: (scope: CompanyScope) => Promise<object>,
): Promise<Outcome> {
  const { globals, output, log, signal } = context;
  const scopes = companyScopes(context, config);
  const companies: Record<string, object> = {};
  let outcome: Outcome = "complete";
  for (const scope of scopes) {
    const { name } = scope.company;
    try {
      companies[name] = await work(scope);
    } catch (error) {
      const isUsage = error instanceof MirrorError && error.kind === "usage";
      if (scopes.length === 1 || signal.aborted || isUsage) throw error;
      outcome = "database";
      const failure = failureOf(error);
      companies[name] = { outcome: "failed", error: failure };
      log.error(`${name}: ${failure.message}`, { kind: failure.kind, hint: failure.hint ?? undefined });
    }
  }
  if (globals.json) await output.json({ companies });
  return outcome;
}
