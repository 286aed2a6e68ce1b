import { formatDuration } from "../../base/units.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import { connectService } from "../../daemon/runs/service-connection.ts";
import { Records } from "../../store/tables/stored-records.ts";
import { estimateRun, type ResourceEstimate } from "../../sync/plan/estimate.ts";
import { printResult } from "../console/output.ts";
import { readMirror, type CompanyScope } from "../mirror/company-scope.ts";
import type { CommandContext } from "../program/command.ts";
import type { Outcome } from "../program/exit-code.ts";

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
  scopes: readonly CompanyScope[],
  resources: readonly Resource[],
  full: boolean,
): Promise<Outcome> {
  const companies: Record<string, Estimate> = {};
  const lines: string[] = [];
  for (const scope of scopes) {
    const { manifest, company } = scope;
    const estimate = sumOf(await estimateOf(scope, resources, full), manifest.limits);
    companies[company.name] = estimate;
    lines.push(...estimateLines(company.name, estimate, manifest.limits));
  }
  await printResult(context, { dry_run: true, companies }, lines);
  return "complete";
}

async function estimateOf(
  scope: CompanyScope,
  resources: readonly Resource[],
  full: boolean,
): Promise<Map<string, ResourceEstimate>> {
  const { transport, close } = connectService(scope.context, scope.config, scope.company);
  try {
    return await readMirror(scope, (db) => estimateRun(transport, resources, db && new Records(db), full));
  } finally {
    await close();
  }
}

function sumOf(found: ReadonlyMap<string, ResourceEstimate>, limits: Manifest["limits"]): Estimate {
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
  limits: Manifest["limits"],
): string[] {
  const pace = `at ${limits.requests} in ${formatDuration(limits.windowMs)}`;
  const time = minutes < 1 ? "less than a minute" : `about ${minutes} minutes ${pace}`;
  const head = `${company}: ${requests.total} requests, ${time} (${requests.list} list, ${requests.detail} detail, ${requests.child} child)`;
  const asked = Object.entries(resources).filter(([, one]) => kinds.some((kind) => one[kind] > 0));
  const lines = asked.map(([name, one]) => {
    const counts = kinds.map((kind) => `${kind} ${one[kind]}`.padEnd(14)).join("");
    return `  ${name.padEnd(28)} ${counts}${one.error ?? ""}`.trimEnd();
  });
  return [head, ...lines, "  changed records cost one detail each on top; nothing was written"];
}
