import { formatCount, formatDuration } from "../../base/units.ts";
import type { Config } from "../../config/config.ts";
import type { Resource } from "../../connector/resource.ts";
import type { Transport } from "../../connector/transport.ts";
import { wholeListSettings, type RunRequest } from "../../runs/company-run.ts";
import { connectService } from "../../runs/service-connection.ts";
import type { BudgetView } from "../../rate-limit/permit.ts";
import { ScrubCandidates } from "../../state/scrub-candidates.ts";
import { Parents } from "../../state/parents.ts";
import { Runs } from "../../state/runs.ts";
import { changesOf } from "../../state/sweeps.ts";
import { WorkQueue } from "../../state/work-queue.ts";
import type { Shard } from "../../status/shards.ts";
import { scrubQuestion } from "../../status/read-status.ts";
import type { Db } from "../../store/database.ts";
import { Records } from "../../store/tables/stored-records.ts";
import { estimateRun, minutesText, planRun, scrubText } from "../../sync/plan/estimate.ts";
import type { KnownRecords, ResourceEstimate } from "../../sync/plan/estimate.ts";
import { listsRead, planWholeLists, wholeListFacts } from "../../sync/plan/initial-work.ts";
import {
  parentsPerRunOf,
  readRecent,
  readScrubChoice,
  readScrubPlan,
  scrubSources,
} from "../../sync/plan/scrub.ts";
import { unfinishedRun } from "../../sync/run/begin-run.ts";
import { readMirror, type CompanyScope } from "../mirror/company-scope.ts";
import type { CommandContext } from "../program/command.ts";
import { forEachCompany } from "./each-company.ts";

const kinds = ["list", "detail", "child"] as const;

type EstimatedRun = Pick<RunRequest, "resources" | "full" | "scrub" | "mostRequests" | "closed">;

type Estimate = ReturnType<typeof sumOf>;

const finish = () => Promise.resolve({ document: { dry_run: true }, lines: [] });

/** `sync --dry-run`: prints the requests that a run would need, and the time they take. Writes nothing. */
export function dryRun(
  context: CommandContext,
  config: Config,
  shard: Shard | undefined,
  asked: EstimatedRun,
) {
  const estimateOne = async (scope: CompanyScope) => {
    const { estimate, budget } = await context.showing((show) => {
      show(() => `${scope.company.name}: asking how long the lists are`);
      return estimateOf(scope, asked);
    });
    const pace = `at ${budget.granted} in ${formatDuration(config.rateLimit.windowMs)}`;
    return { document: estimate, lines: estimateLines(scope.company.name, estimate, pace) };
  };
  return forEachCompany(context, config, estimateOne, { isPartial: true, isAnswer: true, shard, finish });
}

async function estimateOf(scope: CompanyScope, asked: EstimatedRun) {
  await using service = connectService(scope.context, scope, { limits: asked });
  const { signal } = scope.context;
  const transport: Transport = { send: (request) => service.transport.send({ ...request, signal }) };
  const parentsPerRun = parentsPerRunOf(scope.config);
  return await readMirror(scope, async (db) => {
    const known = db && knownOf(scope, db, asked, service.rateLimiter.view().month?.left ?? null);
    const found = await estimateRun(transport, asked.resources, known, { full: asked.full, parentsPerRun });
    const budget = service.rateLimiter.view();
    return { estimate: sumOf(found, scrubOf(scope, asked, db, budget), scope, budget), budget };
  });
}

function knownOf(
  { declaration, config, context }: CompanyScope,
  db: Db,
  { resources, full }: EstimatedRun,
  monthLeft: number | null,
): KnownRecords {
  const records = new Records(db);
  const runs = new Runs(db);
  const unfinished = unfinishedRun(runs, { full });
  const parentsRead = (resource: Resource) => {
    if (full || parentsPerRunOf(config) !== "auto")
      return unfinished ? new Parents(db).countListed(resource.name, runs.firstOfChain(unfinished.id).id) : 0;
    const scope = { declared: declaration.resources, resources: [resource], parentsPerRun: "auto" } as const;
    return new ScrubCandidates(db).readBefore(scrubSources(scope)).count;
  };
  const queue = new WorkQueue(db);
  const nowMs = context.clock.nowMs();
  const settings = wholeListSettings(config.scrub, declaration.resources.length, monthLeft, nowMs);
  const wholeLists = planWholeLists(wholeListFacts(db, declaration.resources), settings, nowMs);
  const withoutChanges = resources.filter((resource) => changesOf(resource) === null);
  return {
    counts: (name) => records.counts(name),
    parentsRead,
    waiting: (name) => queue.countWaiting(name),
    wholeLists,
    listsRead: listsRead(withoutChanges, unfinished, nowMs),
  };
}

function scrubOf(
  scope: CompanyScope,
  { resources, full, scrub }: EstimatedRun,
  db: Db | null,
  { limit }: BudgetView,
) {
  if (db === null || full || !scrub) return { requests: 0, total: 0, nights: 0 };
  const nowMs = scope.context.clock.nowMs();
  const question = scrubQuestion({ ...scope, resources }, db, limit, nowMs);
  const recent = readRecent(db, question);
  const today = readScrubPlan(db, question, recent.length);
  return { requests: readScrubChoice(db, today, recent, nowMs).length, ...today.plan };
}

function sumOf(
  found: ReadonlyMap<string, ResourceEstimate>,
  scrub: ReturnType<typeof scrubOf>,
  { config }: CompanyScope,
  { granted }: BudgetView,
) {
  const sum = (kind: (typeof kinds)[number]) => [...found.values()].reduce((all, one) => all + one[kind], 0);
  const requests = { list: sum("list"), detail: sum("detail"), child: sum("child"), scrub: scrub.requests };
  const missing = requests.detail + requests.child;
  const budget = { granted, windowMs: config.rateLimit.windowMs };
  const plan = planRun({ lists: requests.list, missing, scrub: requests.scrub }, scrub, budget);
  const total = requests.list + missing + requests.scrub;
  const resources = Object.fromEntries(found);
  return { requests: { total, ...requests }, minutes: plan.minutes, plan, resources };
}

function estimateLines(company: string, { requests, minutes, plan, resources }: Estimate, pace: string) {
  const { total, list, detail, child, scrub } = requests;
  const parts = `${list} list, ${detail} detail, ${child} child, ${scrub} scrub`;
  const head = `${company}: ${formatCount(total)} requests, ${minutesText(minutes)} ${pace} (${parts})`;
  const asked = Object.entries(resources).filter(([, one]) => kinds.some((kind) => one[kind] > 0));
  const lines = asked.map(([name, one]) => {
    const counts = kinds.map((kind) => `${kind} ${one[kind]}`.padEnd(14)).join("");
    return `  ${name.padEnd(28)} ${counts}${one.error ?? ""}`.trimEnd();
  });
  const phases = [
    `  lists: ${minutesText(plan.lists.minutes)}; then what is missing: ${minutesText(plan.missing.minutes)}`,
    `  scrub: ${scrubText(plan.scrub)}`,
  ];
  return [head, ...lines, ...phases, "  changed records cost one detail each on top; nothing was written"];
}
