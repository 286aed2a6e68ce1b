import { MirrorError } from "../../base/errors.ts";
import type { Config } from "../../config/config.ts";
import { shortPath } from "../../config/load.ts";
import { failFrom, ok, type CheckResult } from "../checks/check-result.ts";
import { checkDataDir, checkDisk, checkLock } from "../checks/data-folder.ts";
import { checkBaseUrl, checkToken } from "../checks/token.ts";
import { checkWebhook } from "../checks/webhook-endpoint.ts";
import { companyScopes } from "../mirror/company-scope.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandRun } from "../program/command-table.ts";
import type { Ending } from "../program/exit-code.ts";

/** A result with its company; null for one that concerns all companies. */
type CompanyResult = CheckResult & { readonly company: string | null };

/** Takes a result as soon as it is known. */
type Report = (result: CheckResult, company?: string) => Promise<void>;

export const checkCommand: CommandRun<"check"> = async (context) => {
  const { output, globals } = context;
  const results: CompanyResult[] = [];
  const report = async (result: CheckResult, company: string | null = null) => {
    results.push({ company, ...result });
    if (!globals.json) await output.line(lineOf({ company, ...result }));
  };
  await checkAll(context, report);
  const failed = results.filter((result) => result.status === "fail");
  if (globals.json) await output.json({ ok: failed.length === 0, checks: results });
  return endOf(failed);
};

async function checkAll(context: CommandContext, report: Report): Promise<void> {
  const config = await checkConfig(context, report);
  if (config === null) return;
  await report(checkBaseUrl(config.baseUrl, context.connectors[0].manifest.baseUrl));
  await report(checkDataDir(config.dataDir));
  await report(checkDisk(config.dataDir));
  for (const scope of companyScopes(context, config)) {
    const results = [...(await checkToken(scope)), checkLock(scope), await checkWebhook(scope)];
    for (const result of results) await report(result, scope.company.name);
  }
}

async function checkConfig(context: CommandContext, report: Report): Promise<Config | null> {
  try {
    const loaded = context.config("token");
    const count = loaded.config.companies.length;
    const companies = count === 1 ? "1 company" : `${count} companies`;
    await report(ok("config", `${shortPath(loaded.path, context.cwd)}, ${companies}`));
    return loaded.config;
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    for (const line of error.message.split("\n"))
      await report({ ...failFrom("config", error), detail: line });
    return null;
  }
}

function lineOf({ status, company, name, detail, hint }: CompanyResult): string {
  const place = company === null ? name : `${company} ${name}`;
  const below = hint === undefined ? "" : `\n      ${hint}`;
  return `${status.padEnd(4)}  ${place}: ${detail}${below}`;
}

/** The first failure with a kind decides the exit code; other failures are exit code 1. */
function endOf(failed: readonly CompanyResult[]): Ending {
  const kind = failed.find((result) => result.kind !== undefined)?.kind;
  if (kind !== undefined) return { kind };
  return failed.length > 0 ? "failed" : "complete";
}
