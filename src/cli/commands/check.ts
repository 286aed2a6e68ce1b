import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { chosenCompanies } from "../../config/companies.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { failFrom, ok, type CheckResult, type CheckSubject } from "../checks/check-result.ts";
import { checkDataDir, checkDisk } from "../checks/disk.ts";
import { checkLock } from "../checks/lock.ts";
import { checkBaseUrl, checkToken } from "../checks/token.ts";
import { checkWebhook } from "../checks/webhook-endpoint.ts";
import { addressesOf } from "../checks/addresses.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandRun } from "./command-table.ts";
import type { Ending } from "../program/exit-code.ts";

/** Told as soon as it is known; null: it concerns all companies. */
type Told = CheckResult & { readonly company: string | null };

export const checkCommand: CommandRun<"check"> = async (context) => {
  const { output, globals } = context;
  const told: Told[] = [];
  const tell = async (result: CheckResult, company: string | null = null) => {
    told.push({ company, ...result });
    if (!globals.json) await output.line(lineOf({ company, ...result }));
  };
  await checkAll(context, tell);
  const failed = told.filter((result) => result.status === "fail");
  if (globals.json) await output.json({ ok: failed.length === 0, checks: told });
  return endOf(failed);
};

type Tell = (result: CheckResult, company?: string) => Promise<void>;

async function checkAll(context: CommandContext, tell: Tell): Promise<void> {
  const loaded = await checkConfig(context, tell);
  if (loaded === null) return;
  const { config } = loaded;
  await tell(checkBaseUrl(config.baseUrl, context.connectors[0].manifest.baseUrl));
  await tell(checkDataDir(config.dataDir));
  await tell(checkDisk(config.dataDir));
  for (const company of chosenCompanies(config, context.globals.company)) {
    const subject: CheckSubject = { context, config, company };
    for (const result of await checkToken(subject)) await tell(result, company.name);
    await tell(checkLock(subject), company.name);
    await tell(await checkWebhook(subject, addressesOf), company.name);
  }
}

async function checkConfig(context: CommandContext, tell: Tell): Promise<LoadedConfig | null> {
  try {
    const loaded = context.config("token");
    const count = loaded.config.companies.length;
    await tell(
      ok("config", `${shownPath(loaded, context)}, ${count === 1 ? "1 company" : `${count} companies`}`),
    );
    return loaded;
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    for (const line of error.message.split("\n")) await tell({ ...failFrom("config", error), detail: line });
    return null;
  }
}

function shownPath({ path: file }: LoadedConfig, { cwd }: CommandContext): string {
  const relative = path.relative(cwd, file);
  return relative.startsWith("..") ? file : relative;
}

function lineOf({ status, company, name, detail, hint }: Told): string {
  const place = company === null ? name : `${company} ${name}`;
  const below = hint === undefined ? "" : `\n      ${hint}`;
  return `${status.padEnd(4)}  ${place}: ${detail}${below}`;
}

/** As the first failure that has an exit code of its own; otherwise any failure is one. */
function endOf(failed: readonly Told[]): Ending {
  const kind = failed.find((result) => result.kind !== undefined)?.kind;
  if (kind !== undefined) return { kind };
  return failed.length > 0 ? "failed" : "complete";
}
