import path from "node:path";
import { freeBytesAt } from "../../base/atomic-file.ts";
import { MirrorError } from "../../base/errors.ts";
import { counted } from "../../base/units.ts";
import type { Config } from "../../config/config.ts";
import { shortPath } from "../../config/load.ts";
import {
  checkBaseUrl,
  checkDataDir,
  checkLock,
  checkModes,
  checkToken,
  checkWebhook,
  failFrom,
  judgeFreeSpace,
  ok,
  warn,
  type CheckResult,
} from "../checks/checks.ts";
import { companyScopes } from "../mirror/company-scope.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandRun } from "../program/command-table.ts";
import type { CommandEnding } from "../program/exit-code.ts";

/** A result with its company; null for one that concerns all companies. */
type CompanyCheck = CheckResult & { readonly company: string | null };

export const checkCommand: CommandRun<"check"> = async (context) => {
  const { output, globals } = context;
  const results: CompanyCheck[] = [];
  for await (const result of checkAll(context)) {
    results.push(result);
    if (!globals.json) await output.line(lineOf(result));
  }
  const failed = results.filter((result) => result.status === "fail");
  if (globals.json) await output.json({ ok: failed.length === 0, checks: results });
  return endOf(failed);
};

/** Gives each result as soon as it is known. */
async function* checkAll(context: CommandContext): AsyncGenerator<CompanyCheck> {
  const company = null;
  const { config, results } = checkConfig(context);
  for (const result of results) yield { company, ...result };
  if (config === null) return;
  yield { company, ...checkNode(process.execPath) };
  yield { company, ...checkBaseUrl(config.baseUrl, context.connectors[0].manifest.baseUrl) };
  yield { company, ...checkDataDir(config.dataDir) };
  yield { company, ...judgeFreeSpace(freeBytesAt(config.dataDir)) };
  yield { company, ...checkModes(config) };
  for (const scope of companyScopes(context, config)) {
    const found = [...(await checkToken(scope)), checkLock(scope), await checkWebhook(scope)];
    for (const result of found) yield { company: scope.company.name, ...result };
  }
}

/** Warns about a Node that a package's install script brought: it is for trying and testing. */
function checkNode(execPath: string): CheckResult {
  const detail = `${process.versions.node} (${execPath})`;
  if (!execPath.includes(`${path.sep}node_modules${path.sep}`)) return ok("node", detail);
  const hint =
    "fine for trying and testing; in production use a Node 22.19 or newer of the machine: this one came by an install script, without an integrity hash";
  return warn("node", detail, hint);
}

function checkConfig(context: CommandContext): { config: Config | null; results: CheckResult[] } {
  try {
    const { config, path: file } = context.config();
    const companies = counted(config.companies.length, "company", "companies");
    return { config, results: [ok("config", `${shortPath(file, context.cwd)}, ${companies}`)] };
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    const failed = failFrom("config", error);
    return { config: null, results: error.message.split("\n").map((detail) => ({ ...failed, detail })) };
  }
}

function lineOf({ status, company, name, detail, hint }: CompanyCheck): string {
  const place = company === null ? name : `${company} ${name}`;
  const below = hint === undefined ? "" : `\n      ${hint}`;
  return `${status.padEnd(4)}  ${place}: ${detail}${below}`;
}

/** The first failure with a kind decides the exit code; other failures are exit code 1. */
function endOf(failed: readonly CompanyCheck[]): CommandEnding {
  const kind = failed.find((result) => result.kind !== undefined)?.kind;
  if (kind !== undefined) return { kind };
  return failed.length > 0 ? "failed" : "complete";
}
