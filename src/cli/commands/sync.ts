import { MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { chosenCompanies } from "../../config/companies.ts";
import type { RunRequest } from "../../daemon/runs/company-run.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import { afterRun } from "../runs/after-run.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandOptions, CommandRun } from "./command-table.ts";
import { syncCompany, type CompanyRun } from "../runs/local-sync.ts";
import { dryRun } from "../runs/dry-run.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";
import { reportLines } from "../runs/report-text.ts";
import { selectResources } from "../mirror/selected-resources.ts";

/** So many companies at once; each has a budget of its own. */
const companiesAtOnce = 4;

export const syncCommand: CommandRun<"sync"> = async (context, { args, options, loaded: { config } }) => {
  const companies = chosenCompanies(config, context.globals.company);
  const resources = selectResources(context.connectors[0].manifest, config.resources, args);
  if (options.dryRun) return dryRun(context, config, companies, resources, options.full);
  const timer = new AbortController();
  const { maxDuration } = options;
  const untilMs = maxDuration === undefined ? null : context.clock.nowMs() + maxDuration;
  const asked = { ...requestOf(options, resources, timer.signal), untilMs };
  const runs = companies.map((company) => syncCompany(context, config, company, asked));
  const timeout = closeAfter(timer, maxDuration);
  const reports = await context
    .progress(
      () => views(runs),
      () => inTurns(runs),
    )
    .finally(() => clearTimeout(timeout));
  const outcomes: Outcome[] = [...reports.values()].map((report) => report.outcome);
  for (const [company, report] of reports) {
    outcomes.push(...(await afterRun(context, config, company, report)));
  }
  // Last: a reader that has read enough (`| head`) ends the program, and takes nothing of the above along.
  await tell(context, reports);
  return worstOutcome(outcomes);
};

function requestOf(
  { full, maxRequests, allowMassDelete, acceptIdentity }: CommandOptions<"sync">,
  resources: RunRequest["resources"],
  closed: AbortSignal,
): RunRequest {
  if (resources.length === 0)
    throw new MirrorError("usage", "no resource is left to sync: see include and exclude");
  return { resources, full, mostRequests: maxRequests, allowMassDelete, acceptIdentity, closed };
}

function closeAfter(timer: AbortController, ms: number | undefined): NodeJS.Timeout | undefined {
  return ms === undefined ? undefined : setTimeout(() => timer.abort(), ms);
}

function views(runs: readonly CompanyRun[]) {
  return runs.flatMap((run) => run.view() ?? []);
}

async function inTurns(runs: readonly CompanyRun[]): Promise<Map<string, CompanyReport>> {
  const reports = new Map<string, CompanyReport>(runs.map((run) => [run.company, undefined as never]));
  const waiting = [...runs];
  const worker = async () => {
    for (let run = waiting.shift(); run; run = waiting.shift()) reports.set(run.company, await run.run());
  };
  await Promise.all(Array.from({ length: companiesAtOnce }, worker));
  return reports;
}

async function tell(
  { output, globals, log }: CommandContext,
  reports: ReadonlyMap<string, CompanyReport>,
): Promise<void> {
  for (const [company, report] of reports) warn(log, company, report);
  if (globals.json) {
    await output.json({ companies: Object.fromEntries(reports) });
    return;
  }
  for (const [company, report] of reports) {
    for (const line of reportLines(company, report)) await output.line(line);
  }
}

/** Nothing that is not whole stays unsaid, whatever stdout is used for. */
function warn(log: Log, company: string, { troubles, error, resources }: CompanyReport): void {
  for (const { resource, message, hint, kind } of troubles)
    log.warn(`${company}.${resource}: ${message}`, { kind, hint });
  if (error)
    log.error(`${company}: ${error.message}`, {
      kind: error.kind,
      hint: error.hint,
      request_id: error.request_id,
    });
  const pending = Object.values(resources).reduce((sum, counts) => sum + counts.pending, 0);
  if (pending > 0) log.warn(`${company}: ${pending} requests are left for the next run`);
}
