import { MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import { chosenCompanies } from "../../config/companies.ts";
import type { RunRequest } from "../../daemon/runs/company-run.ts";
import type { CompanyReport } from "../../sync/context/run-report.ts";
import { afterRun } from "../runs/after-run.ts";
import { command, type CommandContext } from "../program/command.ts";
import { syncCompany, type CompanyRun } from "../runs/local-sync.ts";
import { dryRun } from "../runs/dry-run.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";
import { durationMs, flag, wholeNumber, type OptionValues } from "../program/command-options.ts";
import { reportLines } from "../runs/report-text.ts";
import { selectResources } from "../mirror/selected-resources.ts";

const options = {
  full: flag("--full", "read every detail and child list again, not only what seems new or changed"),
  dryRun: flag("--dry-run", "show the requests a run would need; nothing is written"),
  maxRequests: wholeNumber(
    "--max-requests <n>",
    "stop after so many requests per company; the next run goes on",
    {
      min: 1,
      max: 100_000_000,
    },
  ),
  maxDuration: durationMs("--max-duration <duration>", "stop after that long; the next run goes on"),
  allowMassDelete: flag(
    "--allow-mass-delete",
    "believe in more deletions than 5 % of a resource; each is still asked for",
  ),
  acceptIdentity: flag(
    "--accept-identity",
    "the token's company is the right one, although it looks like another",
  ),
};

/** So many companies at once; each has a budget of its own. */
const companiesAtOnce = 4;

export const syncCommand = command({
  name: "sync",
  summary: "bring the mirror up to date: one run until nothing is left",
  args: [{ name: "[resource...]", doc: "only these tables" }],
  options,
  run: async (context, input) => {
    const { config } = context.config("token");
    const companies = chosenCompanies(config, context.globals.company);
    const resources = selectResources(context.connectors[0].manifest, config.resources, input.args);
    if (input.options.dryRun) return dryRun(context, config, companies, resources, input.options.full);
    const timer = new AbortController();
    const { maxDuration } = input.options;
    const untilMs = maxDuration === undefined ? null : context.clock.nowMs() + maxDuration;
    const asked = { ...requestOf(input.options, resources, timer.signal), untilMs };
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
  },
});

function requestOf(
  { full, maxRequests, allowMassDelete, acceptIdentity }: OptionValues<typeof options>,
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
