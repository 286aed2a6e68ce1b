import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "../support/seeded-random.ts";
import type { CompanyReport } from "../../src/sync/context/run-report.ts";
import { openCompany, type Company } from "../support/company/open-company.ts";
import { seededChoice, type SeededChoice } from "../support/company/scenario.ts";
import {
  endServe,
  portToKeep,
  startProcess,
  startServe,
  writeEventsConfig,
  type Process,
} from "../support/program/serve-process.ts";
import { startLoad } from "./event-load.ts";
import { badLines, unequal, violations, waitingEvents } from "./event-checks.ts";
import type { SimulationResult } from "./sync-simulation.ts";

const secret = "whsec_of_the_simulation_0123456789";
const windowMs = 2_000;

interface Scenario {
  readonly company: Company;
  readonly port: number;
  readonly processes: Process[];
  readonly log: string[];
  daemon: Process | null;
}

/**
 * Simulates one seed: a company at work whose events are lost (a fifth), doubled (a fifth) and reordered (all); a
 * service whose requests fail; `serve` as a process that is killed and started again. Then the changes end, one run
 * reads everything, and mirror and service must be equal.
 */
export async function simulateEvents(seed: number): Promise<SimulationResult> {
  const choice = seededChoice(seededRandom(seed));
  const port = await portToKeep();
  const company = await openCompany({
    seed,
    records: 8 + choice.below(20),
    windowMs,
    webhooks: [{ url: `http://127.0.0.1:${port}/webhooks/acme`, secret }],
    deliveries: { losses: 0.2, duplicates: 0.2, reorder: 1 },
    retryScale: 0.0003,
    deliveryTimeoutMs: 2_000,
  });
  const scenario: Scenario = { company, port, processes: [], log: [], daemon: null };
  const { folder, proxy, sandbox } = company;
  const config = { folder, baseUrl: proxy.baseUrl, token: sandbox.token, secret };
  // CRM events of which no webhook came are found by every run, not by the scrub of the day.
  const parents = "resources: { contact_activity_logs: { parents_per_run: all } }";
  writeEventsConfig(config, `rate_limit: { window: ${windowMs}ms }\nhttp: { timeout: 2s }\n${parents}`);
  try {
    for (let period = 2 + choice.below(3); period > 0; period--) await loadedPeriod(scenario, choice);
    return { seed, events: scenario.log, broken: await comeToRest(scenario, choice) };
  } finally {
    for (const { child } of scenario.processes) child.kill("SIGKILL");
    await company.close();
  }
}

async function serve(scenario: Scenario): Promise<Process> {
  if (scenario.daemon) return scenario.daemon;
  const daemon = await startServe(scenario.company.folder, scenario.port);
  scenario.processes.push(daemon);
  scenario.daemon = daemon;
  return daemon;
}

/** Load from before the process starts until after it ends. */
async function loadedPeriod(scenario: Scenario, choice: SeededChoice): Promise<void> {
  const changes = 10 + choice.below(40);
  const durationMs = 300 + choice.below(1_000);
  const failureShare = choice.one([0, 0.03, 0.15]);
  const latencyMs = choice.one([0, 10, 60]);
  const options = { seed: choice.below(1_000_000), changes, durationMs, failureShare, latencyMs };
  const end = choice.one(["SIGKILL", "SIGKILL", "SIGKILL", "SIGTERM", "survives"] as const);
  const endAtMs = choice.below(durationMs + 600);
  scenario.log.push(
    `${changes} changes in ${durationMs} ms, failureShare ${failureShare}: ${end} after ${endAtMs} ms`,
  );
  const daemon = await serve(scenario);
  const load = startLoad(scenario.company, options);
  const over = load.over();
  over.catch(() => undefined);
  await pause(endAtMs);
  if (end !== "survives") {
    const { code } = await endServe(daemon, end);
    scenario.daemon = null;
    if (end === "SIGTERM" && code !== 0) throw new Error(`SIGTERM ended with ${code}: ${daemon.stderr()}`);
  }
  await over;
}

/** Ends all changes and deliveries, then makes the last runs, beside `serve` or without it. */
async function comeToRest(scenario: Scenario, choice: SeededChoice): Promise<string[]> {
  const { company } = scenario;
  const beside = choice.probability(0.7);
  const full = choice.probability(0.7);
  scenario.log.push(
    `then ${full ? "a full run" : "a run, and a full one"}, ${beside ? "beside serve" : "without serve"}`,
  );
  const daemon = await serve(scenario);
  await company.sandbox.control.webhooks.idle(20_000, { withinMs: Infinity });
  if (!beside) await endServe(daemon, "SIGTERM");
  if (!full) {
    const wrong = await runUntilFresh(scenario, []);
    wrong.push(...unequal(company, "lists"));
    if (wrong.length > 0) return wrong;
  }
  const wrong = await runUntilFresh(scenario, ["--full"]);
  if (!beside) scenario.daemon = null;
  await serve(scenario);
  wrong.push(
    ...unequal(company, "everything"),
    ...(await neverRead(company)),
    ...(await violations(company)),
  );
  const { code } = await endServe(await serve(scenario), "SIGTERM");
  if (code !== 0) wrong.push(`SIGTERM at rest ended with ${code}`);
  const logs = scenario.processes.map((one) => one.stdout() + one.stderr());
  return [...wrong, ...logs.flatMap((log) => badLines(log, [secret, company.sandbox.token]))];
}

/**
 * Runs `sync` until one did not resume an interrupted run. A run ends with 3 when a deletion could not be proven
 * because every record that could prove the route was deleted without an event; the next run can.
 */
async function runUntilFresh(scenario: Scenario, args: readonly string[]): Promise<string[]> {
  for (let tries = 0; tries < 4; tries++) {
    const run = startProcess(scenario.company.folder, ["sync", "--json", "--allow-mass-delete", ...args]);
    scenario.processes.push(run);
    const { code } = await run.ended;
    if (code === 3 && tries < 2) continue;
    if (code !== 0) return [`sync ${args.join(" ")} ended with ${code}: ${run.stderr()}`];
    const { companies } = JSON.parse(run.stdout()) as { companies: { acme: CompanyReport } };
    if (!companies.acme.resumed) return [];
  }
  return ["every run resumes another one"];
}

/** Events whose read is not made although nothing prevents it for 8 s. */
async function neverRead(company: Company): Promise<string[]> {
  const endMs = performance.now() + 8_000;
  for (;;) {
    const waiting = waitingEvents(company);
    if (waiting.length === 0) return [];
    if (performance.now() > endMs) return waiting.map((what) => `is never read: ${what}`);
    await pause(50);
  }
}
