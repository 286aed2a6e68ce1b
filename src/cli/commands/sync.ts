import { setFlagsFromString } from "node:v8";
import { isoTime } from "../../base/clock.ts";
import { MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { Semaphore } from "../../base/semaphore.ts";
import { formatCount, formatDuration } from "../../base/units.ts";
import type { ProgressView } from "../../log/progress-view.ts";
import { isWorthPublishing, type CompanyReport, type ScrubReport } from "../../sync/context/run-report.ts";
import { printResult } from "../console/output.ts";
import { companyScopes, type CompanyScope } from "../mirror/company-scope.ts";
import { selectResources } from "../mirror/selected-resources.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandRun } from "../program/command-table.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";
import { afterRun } from "../runs/after-run.ts";
import { dryRun } from "../runs/dry-run.ts";
import { syncCompany } from "../runs/local-sync.ts";
import type { CompanyRun } from "../runs/remote-sync.ts";

/** Companies that run and that scrub at the same time; each has a request budget of its own. */
const companiesAtOnce = 4;
const scrubsAtOnce = 24;

/** Makes one run of each company, then what follows it. */
export const syncCommand: CommandRun<"sync"> = async (context, { args, options, loaded: { config } }) => {
  const scopes = companyScopes(context, config);
  const resources = selectResources(context.connectors[0].manifest, config.resources, args);
  const { full, quick, maxRequests: mostRequests, maxDuration, allowMassDelete, acceptIdentity } = options;
  if (quick && (full || options.dryRun))
    throw new MirrorError("usage", `--quick cannot be combined with ${full ? "--full" : "--dry-run"}`, {
      hint: "A quick run reads a few lists only. Leave one of the two out.",
    });
  const scrub = options.scrub && !quick;
  if (options.dryRun) return dryRun(context, scopes, { resources, full, scrub });
  if (resources.length === 0)
    throw new MirrorError("usage", "no resource is left to sync: see include and exclude");
  const closed = maxDuration === undefined ? new AbortController().signal : AbortSignal.timeout(maxDuration);
  const untilMs = maxDuration === undefined ? null : context.clock.nowMs() + maxDuration;
  const flags = { full, quick, allowMassDelete, acceptIdentity, scrub };
  const request = { resources, ...flags, mostRequests, closed };
  const failures: Outcome[] = [];
  const one = new Semaphore(1);
  const publish = async (scope: CompanyScope, runGoesOn = false) => {
    const release = await one.acquire();
    letYoungGenerationGrow(!runGoesOn);
    failures.push(...(await afterRun(scope)));
    letYoungGenerationGrow(false);
    release?.();
  };
  letYoungGenerationGrow(false);
  const reports = await runAll(context, scopes, { request, untilMs }, publish);
  for (const scope of scopes) {
    const report = reports.get(scope.company.name);
    if (report && isWorthPublishing(report)) await publish(scope);
  }
  const outcomes = [...reports.values()].map((report): Outcome => report.outcome);
  // Printed last: a reader that closes stdout (`| head`) ends the program, when everything above is done.
  await print(context, reports);
  return worstOutcome([...outcomes, ...failures]);
};

/**
 * May V8 double its young generation, to 128 MB in the end, when enough has survived in it? A run has little in use
 * at a time: it is as fast with the 32 MB that loading the program leads to, and takes a third less memory. The flag
 * is the process's: what writes reports and exports, also in threads, grows as ever.
 */
function letYoungGenerationGrow(may: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`);
}

/** Makes the runs while their progress is shown. `publish` is called when what lists show is in, and before each scrub. */
async function runAll(
  context: CommandContext,
  scopes: readonly CompanyScope[],
  asked: Pick<CompanyRun, "request" | "untilMs">,
  publish: (scope: CompanyScope, runGoesOn?: boolean) => Promise<void>,
): Promise<Map<string, CompanyReport>> {
  const places = new Semaphore(companiesAtOnce);
  const scrubPlaces = new Semaphore(scrubsAtOnce);
  const views = scopes.map((): (() => ProgressView | null) => () => null);
  const runOne = async (scope: CompanyScope, index: number) => {
    let release = await places.acquire();
    const onListsRead = () => publish(scope, true);
    const onListed = async () => {
      release?.();
      await publish(scope);
      release = await scrubPlaces.acquire(context.signal);
    };
    try {
      const startedAt = isoTime(context.clock.nowMs());
      const show: CompanyRun["show"] = (view) => (views[index] = view);
      return [
        scope.company.name,
        await syncCompany({ ...asked, scope, startedAt, show, onListsRead, onListed }),
      ] as const;
    } finally {
      release?.();
    }
  };
  const read = () => views.flatMap((view) => view() ?? []);
  return new Map(await context.progress(read, () => Promise.all(scopes.map(runOne))));
}

async function print(context: CommandContext, reports: ReadonlyMap<string, CompanyReport>): Promise<void> {
  for (const [company, report] of reports) logTroubles(context.log, company, report);
  const lines = [...reports].flatMap(([company, report]) => reportLines(company, report));
  await printResult(context, { companies: Object.fromEntries(reports) }, lines);
}

/** Everything that is incomplete is logged, whatever stdout is used for. */
function logTroubles(log: Log, company: string, report: CompanyReport): void {
  for (const { resource, message, hint, kind } of report.troubles)
    log.warn(`${company}.${resource}: ${message}`, { kind, hint });
  if (report.error) {
    const { message, kind, hint, request_id } = report.error;
    log.error(`${company}: ${message}`, { kind, hint, request_id });
  }
  const pending = sumOf(report, "pending");
  if (pending > 0) log.warn(`${company}: ${pending} requests are left for the next run`);
}

/** The outcome of a run in one line, and one line for each resource that changed. */
function reportLines(company: string, report: CompanyReport): string[] {
  const tookMs = Date.parse(report.finished_at) - Date.parse(report.started_at);
  const resumed = report.resumed ? ", resumed after an interruption" : "";
  const head = `${company}: ${report.outcome} in ${formatDuration(tookMs)}, ${report.requests.total} requests, ${sumOf(report, "listed")} records listed${resumed}`;
  const { scrub } = report;
  const lines = Object.entries(report.resources).flatMap(([name, counts]) => {
    const parts = (["inserted", "updated", "hydrated", "deleted", "failed"] as const)
      .filter((key) => counts[key] > 0)
      .map((key) => `${counts[key]} ${key}`);
    if (counts.provisional > 0) parts.push(`${counts.provisional} without their detail`);
    return parts.length === 0 ? [] : [`  ${name.padEnd(28)} ${parts.join(", ")}`];
  });
  const pending = sumOf(report, "pending");
  if (pending > 0) lines.push(`  ${pending} requests are left for the next run`);
  if (lines.length === 0 && report.outcome === "complete") lines.push("  nothing changed");
  if (scrub && scrub.planned > 0) lines.push(scrubLine(scrub));
  return [head, ...lines];
}

function scrubLine({ total, read, changed, left }: ScrubReport): string {
  const rest = left > 0 ? `; ${formatCount(left)} are left for another run` : "";
  return `  scrub: ${formatCount(read)} of ${formatCount(total)} re-read, ${formatCount(changed)} changed${rest}`;
}

function sumOf({ resources }: CompanyReport, key: "listed" | "pending"): number {
  return Object.values(resources).reduce((sum, counts) => sum + counts[key], 0);
}
