import { chosenCompanies } from "../../config/companies.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandRun } from "../program/command-table.ts";
import { worstOutcome } from "../program/exit-code.ts";
import { openForReading } from "../mirror/open-mirror.ts";
import { selectResources } from "../mirror/selected-resources.ts";
import type { CompanyStatus } from "../../status/company-status.ts";
import { readStatus, statusOutcome, type StatusQuestion } from "../../status/read-status.ts";
import { statusLines } from "../../status/render/status-text.ts";

export const statusCommand: CommandRun<"status"> = async (context, { options, loaded: { config } }) => {
  const nowMs = context.clock.nowMs();
  const statuses: Record<string, CompanyStatus> = {};
  for (const company of chosenCompanies(config, context.globals.company)) {
    statuses[company.name] = companyStatus(context, config, company, {
      maxAgeMs: options.maxAge ?? null,
      nowMs,
    });
  }
  if (context.globals.json) await context.output.json({ companies: statuses });
  else {
    for (const [name, status] of Object.entries(statuses)) {
      for (const line of statusLines(name, status, nowMs)) await context.output.line(line);
    }
  }
  return worstOutcome(Object.values(statuses).map((status) => statusOutcome(status, nowMs)));
};

function companyStatus(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  question: Pick<StatusQuestion, "maxAgeMs" | "nowMs">,
): CompanyStatus {
  const { clock, log } = context;
  const { manifest } = context.connectors[0];
  const selected = selectResources(manifest, config.resources, []);
  const db = openForReading(config, company);
  try {
    return readStatus({
      db,
      files: mirrorFiles(config, company.name),
      manifest,
      resources: new Set(selected.map(({ name }) => name)),
      spread: config.resources.parentsPerRun["contact_activity_logs"] !== undefined,
      windowMs: config.rateLimit.windowMs,
      ...question,
      clock,
      log,
    });
  } finally {
    db?.close();
  }
}
