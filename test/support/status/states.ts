import { cpSync, writeFileSync } from "node:fs";
import Database from "better-sqlite3";
import { hourMs, minuteMs, type Clock } from "../../../src/base/clock.ts";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { silentLog } from "../../../src/base/logger.ts";
import type { Config } from "../../../src/config/config.ts";
import { mirrorFiles, settingsOf } from "../../../src/store/mirror-files.ts";
import { openBudgetFile } from "../../../src/state/budget-file.ts";
import { HandOverCounts } from "../../../src/state/as-of/hand-overs.ts";
import type { CompanyStatusView } from "../../../src/status/company-view.ts";
import type { PageCompany } from "../../../src/status/page/page-facts.ts";
import { nameOfMirror } from "../../../src/verify/findings.ts";
import { companyView, lookedAtMs, madeStep, service } from "./company-view.ts";
import { look } from "../truth/compare.ts";
import { configOf } from "../program/daemon.ts";
import { openCompany, sync } from "../company/open-company.ts";
import { memoryScratch } from "../memory-folder.ts";
import { ago, events, failures, firstRun, hostile, hostileRows } from "./rows.ts";
import { resource, view as progressOf } from "../terminal/terminal.ts";

export type StatusStates = Awaited<ReturnType<typeof openStates>>;

/**
 * Companies in all the states that a page can show, by name, and 195 more without any mirror. Mirrors are read once from a
 * sandbox, and changed where a state needs it.
 */
export async function openStates(clock: Clock) {
  const company = await openCompany({ records: 12 });
  const { path: folder, remove } = memoryScratch();
  const config: Config = { ...configOf(company), dataDir: folder };
  await sync(company, { startAtMs: lookedAtMs - 30 * hourMs, scrub: null });
  const ids = look(company.file, (db) => db.prepare("SELECT id FROM clients ORDER BY id").pluck().all());
  for (const [i, name] of ["Kováč & synovia", "Mlyn", "Píla"].entries())
    company.sandbox.control.update("clients", Number(ids[i]), { name });
  await sync(company, { startAtMs: lookedAtMs - 6 * hourMs, scrub: null });
  const states: Record<string, (db: Database.Database) => void> = {
    acme: events,
    failing: (db) => (events(db), failures(db)),
    hostile: hostileRows,
    first_run: firstRun,
  };
  for (const [name, change] of Object.entries(states)) {
    const file = mirrorFiles(config, name).mirror;
    cpSync(company.file, file);
    const db = new Database(file);
    db.transaction(change)(db);
    proveAndSpend(config, name, db, clock);
    db.close();
  }
  const views = allViews();
  const names = [...views.keys()];
  const find = (name: string): PageCompany | null => {
    if (!views.has(name)) return null;
    return {
      settings: settingsOf(config, { ...config.companies[0]!, name }, declaration),
      context: { clock, log: silentLog },
      handOvers: new HandOverCounts(),
      view: () => views.get(name) ?? companyView({ company: name }),
      progress: () => (name === "first_run" ? progress : null),
    };
  };
  const close = async () => {
    remove();
    await company.close();
  };
  return { names, views, find, close };
}

const progress = progressOf({
  company: "first_run",
  requests: 412,
  queued: 1_454,
  resources: [
    resource("clients", { phase: "done", done: 100, total: 100 }),
    resource("invoices", { phase: "reading", done: 1_046, total: 2_500, changed: 1_046 }),
    resource("orders", { phase: "listing", done: 200, total: 800 }),
  ],
});

function swept(ms: number | null): CompanyStatusView["sweptMs"] {
  return Object.fromEntries(declaration.resources.map(({ name }) => [name, ms]));
}

function allViews(): Map<string, CompanyStatusView> {
  const current = { sweptMs: swept(lookedAtMs - 6 * hourMs), afterRun: steps("report", "csv ./reports") };
  const others = Array.from({ length: 195 }, (_, i) => {
    const company = `company_${String(i + 1).padStart(3, "0")}`;
    const sick = i % 40 === 7 ? { service: service("unauthenticated", hourMs, "Unauthenticated.") } : {};
    return companyView({ company, ...current, ...sick });
  });
  const unread = { sweptMs: swept(null), wholeRunMs: null, lastRun: null };
  const noEvents = { waiting: 0, oldestWaitingMs: null, lastReceivedMs: null };
  const run = { mode: "incremental", startedMs: lookedAtMs - 4 * minuteMs } as const;
  const queue = [{ resource: "invoices", kind: "detail", state: "ready", count: 1_454 }] as const;
  const all = [
    companyView({ company: "acme", ...current }),
    companyView({ company: "empty", ...unread, budget: null, fileBytes: null, events: noEvents }),
    companyView({ company: "first_run", ...unread, run, queue }),
    failingView(swept(lookedAtMs - 31 * hourMs)),
    hostileView(swept(lookedAtMs - 6 * hourMs)),
    ...others,
  ];
  return new Map(all.map((one) => [one.company, one]));
}

function steps(...names: readonly string[]): CompanyStatusView["afterRun"] {
  const made = names.map((name) => madeStep(name, 5 * hourMs));
  return { steps: made, problem: null, isReportScheduled: false };
}

function anIncident(subject: string, message: string): CompanyStatusView["alerts"]["incidents"][number] {
  const began = { began_at: ago(3 * hourMs), ended_at: null, clear_since: null, returns: 0 };
  return { id: "i1", kind: "failed", subject, message, ...began, sent_to: ["mail"] };
}

function failingView(sweptMs: CompanyStatusView["sweptMs"]): CompanyStatusView {
  const failed = madeStep("parquet s3://reports/acme", 2 * hourMs, {
    outcome: "failed",
    error: "AccessDenied: the key may not write to this bucket",
    last_success_at: ago(50 * hourMs),
    age_ms: 50 * hourMs,
  });
  const incident = anIncident("reading", "the service does not take the token");
  return companyView({
    company: "failing",
    sweptMs,
    service: service("unauthenticated", 3 * hourMs, "Unauthenticated."),
    queue: [{ resource: "invoices", kind: "detail", state: "dead", count: 2 }],
    events: { waiting: 3, oldestWaitingMs: lookedAtMs - hourMs, lastReceivedMs: lookedAtMs - minuteMs },
    wholeness: {
      troubles: [{ resource: "orders", kind: "held", message: "41 records would be deleted: more than 5 %" }],
      quarantined: 1,
      mayHaveLostEvents: true,
    },
    afterRun: { steps: [...steps("report").steps, failed], problem: null, isReportScheduled: false },
    alerts: { incidents: [incident], undelivered: [] },
  });
}

function hostileView(sweptMs: CompanyStatusView["sweptMs"]): CompanyStatusView {
  const { script, turned, long } = hostile;
  const step = madeStep(`${script}${long}`, 5 * hourMs, { outcome: "failed", error: turned });
  return companyView({
    company: "hostile",
    sweptMs,
    missingSecrets: [script, turned, long],
    lastRun: { outcome: "failed", startedMs: lookedAtMs - hourMs, finishedMs: lookedAtMs, message: script },
    afterRun: { steps: [step], problem: long, isReportScheduled: false },
    alerts: { incidents: [anIncident(script, turned + long)], undelivered: [] },
  });
}

/** Requests of the last hour, and what the last `verify` found. */
function proveAndSpend(config: Config, name: string, db: Database.Database, clock: Clock): void {
  const files = mirrorFiles(config, name);
  openBudgetFile({ path: files.budget, clock }).close();
  const budget = new Database(files.budget);
  const add = budget.prepare("INSERT INTO minutes VALUES (?, ?, ?)");
  const first = Math.floor(lookedAtMs / minuteMs) - 59;
  for (let i = 0; i < 60; i++)
    if (i % 15 < 6)
      add.run(first + i, i < 30 ? 118 - i : 4 + (i % 7), name === "failing" && i === 20 ? 2 : 0);
  budget.close();
  const match = name !== "failing";
  const proof = {
    mirror: nameOfMirror(db),
    at: ago(80 * minuteMs),
    by: "verify --sample 100",
    match,
    differences: match ? 0 : 4,
    uncompared: 0,
    records_compared: 612,
    details_compared: 100,
    details_total: 612,
    resumed_since: null,
  };
  writeFileSync(files.verified, JSON.stringify(proof));
}
