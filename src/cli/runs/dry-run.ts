import { existsSync } from "node:fs";
import { formatDuration } from "../../base/units.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import type { Resource } from "../../connector/resource.ts";
import { Records } from "../../store/tables/stored-records.ts";
import { openDatabase } from "../../store/database.ts";
import { estimateRun, type ResourceEstimate } from "../../sync/plan/estimate.ts";
import { printResult } from "../console/output.ts";
import type { CommandContext } from "../program/command.ts";
import type { Outcome } from "../program/exit-code.ts";
import { connectService } from "../../daemon/runs/service-connection.ts";

const kinds = ["list", "detail", "child"] as const;

interface Estimate {
  readonly requests: Readonly<Record<(typeof kinds)[number] | "total", number>>;
  /** At the budget that the service publishes. */
  readonly minutes: number;
  readonly resources: Readonly<Record<string, ResourceEstimate>>;
}

/** `sync --dry-run`: prints the requests that a run would need, and the time they take. Writes nothing. */
export async function dryRun(
  context: CommandContext,
  config: Config,
  companies: readonly CompanyConfig[],
  resources: readonly Resource[],
  full: boolean,
): Promise<Outcome> {
  const { limits } = context.connectors[0].manifest;
  const estimates: Record<string, Estimate> = {};
  for (const company of companies) {
    const found = await estimate(context, config, company, resources, full);
    estimates[company.name] = sumOf(found, limits);
  }
  const lines = Object.entries(estimates).flatMap(([company, one]) => estimateLines(company, one, limits));
  await printResult(context, { dry_run: true, companies: estimates }, lines);
  return "complete";
}

async function estimate(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  resources: readonly Resource[],
  full: boolean,
): Promise<Map<string, ResourceEstimate>> {
  const { mirror } = mirrorFiles(config, company.name);
  const db = existsSync(mirror) ? openDatabase(mirror, { readonly: true }) : null;
  const service = connectService(context, config, company);
  try {
    return await estimateRun(service.transport, resources, db ? new Records(db) : null, full);
  } finally {
    db?.close();
    await service.close();
  }
}

type Limits = CommandContext["connectors"][0]["manifest"]["limits"];

function sumOf(found: ReadonlyMap<string, ResourceEstimate>, limits: Limits): Estimate {
  const sum = (kind: (typeof kinds)[number]) => [...found.values()].reduce((all, one) => all + one[kind], 0);
  const requests = { list: sum("list"), detail: sum("detail"), child: sum("child") };
  const total = requests.list + requests.detail + requests.child;
  const windows = Math.max(0, Math.ceil(total / limits.requests) - 1);
  const minutes = Math.round((windows * limits.windowMs) / 6_000) / 10;
  return { requests: { total, ...requests }, minutes, resources: Object.fromEntries(found) };
}

function estimateLines(
  company: string,
  { requests, minutes, resources }: Estimate,
  limits: Limits,
): string[] {
  const pace = `at ${limits.requests} in ${formatDuration(limits.windowMs)}`;
  const time = minutes < 1 ? "less than a minute" : `about ${minutes} minutes ${pace}`;
  const head = `${company}: ${requests.total} requests, ${time} (${requests.list} list, ${requests.detail} detail, ${requests.child} child)`;
  const lines = Object.entries(resources)
    .filter(([, one]) => one.list + one.detail + one.child > 0)
    .map(([name, one]) => {
      const counts = kinds.map((kind) => `${kind} ${one[kind]}`.padEnd(14)).join("");
      return `  ${name.padEnd(28)} ${counts}${one.error ?? ""}`.trimEnd();
    });
  return [head, ...lines, "  changed records cost one detail each on top; nothing was written"];
}
