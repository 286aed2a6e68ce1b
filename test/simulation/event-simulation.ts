import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "../../src/base/random.ts";
import type { CompanyReport } from "../../src/sync/context/run-report.ts";
import { openCompany, type Company } from "../support/open-company.ts";
import { diceOf, type Dice } from "../support/scenario.ts";
import {
  endServe,
  portToKeep,
  startProcess,
  startServe,
  writeEventsConfig,
  type Process,
} from "../support/serve-process.ts";
import { startStorm } from "./event-load.ts";
import { badLines, unequal, violations, waitingEvents } from "./event-checks.ts";
import type { Story } from "./sync-simulation.ts";

const secret = "whsec_of_the_storm_0123456789";
const windowMs = 2_000;

interface Stage {
  readonly company: Company;
  readonly port: number;
  readonly processes: Process[];
  readonly told: string[];
  daemon: Process | null;
}

/**
 * One seed, one story: a company at work, of whose events a fifth is lost and a fifth doubled, none in order; a
 * service that stumbles; `serve` as a process that is killed and started again. Then quiet, one run that reads
 * everything, and mirror and service must be equal.
 */
export async function simulateEvents(seed: number): Promise<Story> {
  const dice = diceOf(seededRandom(seed));
  const port = await portToKeep();
  const company = await openCompany({
    seed,
    records: 8 + dice.below(20),
    windowMs,
    webhooks: [{ url: `http://127.0.0.1:${port}/webhooks/acme`, secret }],
    deliveries: { losses: 0.2, duplicates: 0.2, reorder: 1 },
    retryScale: 0.0003,
    deliveryTimeoutMs: 2_000,
  });
  const stage: Stage = { company, port, processes: [], told: [], daemon: null };
  const { folder, proxy, sandbox } = company;
  const config = { folder, baseUrl: proxy.baseUrl, token: sandbox.token, secret };
  writeEventsConfig(config, `rate_limit: { window: ${windowMs}ms }\nhttp: { timeout: 2s }`);
  try {
    for (let life = 2 + dice.below(3); life > 0; life--) await stormyLife(stage, dice);
    return { seed, events: stage.told, broken: await quiet(stage, dice) };
  } finally {
    for (const { child } of stage.processes) child.kill("SIGKILL");
    await company.close();
  }
}

async function open(stage: Stage): Promise<Process> {
  if (stage.daemon) return stage.daemon;
  const daemon = await startServe(stage.company.folder, stage.port);
  stage.processes.push(daemon);
  stage.daemon = daemon;
  return daemon;
}

/** Work goes on beside it from its start to its end, and a while after that. */
async function stormyLife(stage: Stage, dice: Dice): Promise<void> {
  const changes = 10 + dice.below(40);
  const durationMs = 300 + dice.below(1_000);
  const stumbles = dice.one([0, 0.03, 0.15]);
  const latencyMs = dice.one([0, 10, 60]);
  const weather = { seed: dice.below(1_000_000), changes, durationMs, stumbles, latencyMs };
  const end = dice.one(["SIGKILL", "SIGKILL", "SIGKILL", "SIGTERM", "lives on"] as const);
  const endAtMs = dice.below(durationMs + 600);
  stage.told.push(`${changes} changes in ${durationMs} ms, stumbles ${stumbles}: ${end} after ${endAtMs} ms`);
  const daemon = await open(stage);
  const storm = startStorm(stage.company, weather);
  const over = storm.over();
  over.catch(() => undefined);
  await pause(endAtMs);
  if (end !== "lives on") {
    const { code } = await endServe(daemon, end);
    stage.daemon = null;
    if (end === "SIGTERM" && code !== 0) throw new Error(`SIGTERM ended with ${code}: ${daemon.stderr()}`);
  }
  await over;
}

/** Nothing changes any more, deliveries have come or are lost; a run is ordered, or made while nobody serves. */
async function quiet(stage: Stage, dice: Dice): Promise<string[]> {
  const { company, told } = stage;
  const beside = dice.chance(0.7);
  const full = dice.chance(0.7);
  told.push(
    `then ${full ? "a full run" : "a run, and a full one"}, ${beside ? "handed over" : "nobody serves"}`,
  );
  const daemon = await open(stage);
  await company.sandbox.control.webhooks.idle(20_000, { withinMs: Infinity });
  if (!beside) await endServe(daemon, "SIGTERM");
  if (!full) {
    const wrong = await ordered(stage, []);
    wrong.push(...unequal(company, "lists"));
    if (wrong.length > 0) return wrong;
  }
  const wrong = await ordered(stage, ["--full"]);
  if (!beside) stage.daemon = null;
  await open(stage);
  wrong.push(...unequal(company, "everything"), ...(await neverRead(company)), ...violations(company));
  const { code } = await endServe(await open(stage), "SIGTERM");
  if (code !== 0) wrong.push(`SIGTERM at rest ended with ${code}`);
  const logs = stage.processes.map((one) => one.stdout() + one.stderr());
  return [...wrong, ...logs.flatMap((log) => badLines(log, [secret, company.sandbox.token]))];
}

/**
 * A run that goes on with an interrupted one is not yet the quiet one; nor is one beside which a deletion could not
 * be proven, because all that might have shown that its route answers was deleted unnoticed: the next one knows.
 */
async function ordered(stage: Stage, args: readonly string[]): Promise<string[]> {
  for (let tries = 0; tries < 4; tries++) {
    const run = startProcess(stage.company.folder, ["sync", "--json", "--allow-mass-delete", ...args]);
    stage.processes.push(run);
    const { code } = await run.ended;
    if (code === 3 && tries < 2) continue;
    if (code !== 0) return [`sync ${args.join(" ")} ended with ${code}: ${run.stderr()}`];
    const { companies } = JSON.parse(run.stdout()) as { companies: { acme: CompanyReport } };
    if (!companies.acme.resumed) return [];
  }
  return ["every run goes on with another one"];
}

/** What still waits for its read after a while in which nothing is in the way of it. */
async function neverRead(company: Company): Promise<string[]> {
  const endMs = performance.now() + 8_000;
  for (;;) {
    const waiting = waitingEvents(company);
    if (waiting.length === 0) return [];
    if (performance.now() > endMs) return waiting.map((what) => `waits for ever: ${what}`);
    await pause(50);
  }
}
