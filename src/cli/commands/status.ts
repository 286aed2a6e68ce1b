import { formatDuration } from "../../base/units.ts";
import { chosenCompanies } from "../../config/companies.ts";
import type { CompanyConfig, Config } from "../../config/config.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import { lockHolder, lockNote, type HolderNote } from "../../store/writer-lock.ts";
import { earliest } from "../../state/sweeps.ts";
import { readHealth, type Health } from "../../status/mirror-health.ts";
import { readEvents } from "../../status/event-health.ts";
import { budgetView } from "../../status/read-status.ts";
import type { CommandContext } from "../program/command.ts";
import type { CommandRun } from "./command-table.ts";
import { worstOutcome, type Outcome } from "../program/exit-code.ts";
import { openForReading } from "../mirror/open-mirror.ts";
import { selectResources } from "../mirror/selected-resources.ts";
import { eventsOverdue, judgeEvents } from "../../status/event-status.ts";
import { statusLines, type CompanyStatus, type Freshness } from "../../status/render/status-text.ts";

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
  return worstOutcome(Object.values(statuses).map((status) => outcomeOf(status, nowMs)));
};

interface Question {
  readonly maxAgeMs: number | null;
  readonly nowMs: number;
}

function companyStatus(
  context: CommandContext,
  config: Config,
  company: CompanyConfig,
  { maxAgeMs, nowMs }: Question,
): CompanyStatus {
  const files = mirrorFiles(config, company.name);
  const db = openForReading(config, company);
  const budget = budgetView(context, config, company);
  if (!db) return { ...nothingYet, budget };
  try {
    const { manifest } = context.connectors[0];
    const spread = config.resources.parentsPerRun["contact_activity_logs"] !== undefined;
    const health = readHealth(db, manifest, spread);
    const names = new Set(selectResources(manifest, config.resources, []).map((resource) => resource.name));
    const freshness = judgeFreshness(health, names, maxAgeMs, nowMs);
    const writer = lockHolder(files.lock);
    const wholeSinceMs = freshness.oldest === null ? null : Date.parse(freshness.oldest);
    const events = judgeEvents(readEvents(db), { written: writer !== null, wholeSinceMs, nowMs });
    const running = runUnderWay(health, writer === null ? null : (lockNote(files.lock) ?? {}));
    return { mirrored: true, writer, running, budget, freshness, health, events };
  } finally {
    db.close();
  }
}

const nothingYet = {
  mirrored: false,
  writer: null,
  running: null,
  freshness: { oldest: null, stale: [] },
  health: null,
  events: null,
};

/**
 * Pure: a run without an end is under way if who holds the lock made it, since it holds it: in a container
 * every process has the same number.
 */
function runUnderWay({ runs }: Health, note: HolderNote | null): CompanyStatus["running"] {
  const [latest] = runs;
  if (note === null || !latest || latest.outcome !== null) return null;
  if (note.pid === undefined || note.since === undefined) return "unknown";
  return latest.pid === note.pid && latest.startedAt >= note.since ? latest.id : null;
}

/** Pure: which of the tables the config asks for are older than allowed. */
function judgeFreshness(
  health: Pick<Health, "resources">,
  names: ReadonlySet<string>,
  maxAgeMs: number | null,
  nowMs: number,
): Freshness {
  const asked = health.resources.filter(({ name }) => names.has(name));
  const oldest = earliest(asked.map(({ sweptAt }) => sweptAt));
  if (maxAgeMs === null) return { oldest, stale: [] };
  const stale = asked
    .filter(({ sweptAt }) => sweptAt === null || nowMs - Date.parse(sweptAt) > maxAgeMs)
    .map(({ name, sweptAt }) => ({
      name,
      age: sweptAt === null ? "never read whole" : formatDuration(nowMs - Date.parse(sweptAt)),
    }));
  return { oldest, stale };
}

/** Never silent: too old is 1; not whole is 3; there is no mirror is 1. */
function outcomeOf({ mirrored, freshness, health, events }: CompanyStatus, nowMs: number): Outcome {
  if (!mirrored || freshness.stale.length > 0) return "difference";
  if (!health || health.quarantine.length > 0 || health.deadLetters.length > 0) return "partial";
  if (health.resources.some(({ troubles }) => troubles.length > 0)) return "partial";
  if (events && eventsOverdue(events, nowMs)) return "partial";
  const last = health.runs.find((run) => run.outcome !== null);
  return last === undefined || last.outcome === "complete" ? "complete" : "partial";
}
