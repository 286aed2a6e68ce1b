import { parseArgs } from "node:util";
import type { VerifyReport } from "../../src/verify/report.ts";
import { LiveChanges } from "../support/verify/live-changes.ts";
import { openCompany, type Company } from "../support/company/open-company.ts";
import {
  endServe,
  portToKeep,
  startProcess,
  startServe,
  writeEventsConfig,
} from "../support/program/serve-process.ts";
import { named } from "../support/verify/verify.ts";

/**
 * `--runs N --beside nothing|sync|serve --rate R --seed S`: N runs of `verify`, `--all` and `--sample 20` in turn, each a
 * process of its own, while a service changes R times a second. Each record that is named must have changed since the
 * mirror began its last complete reading; exits with 1 after a wrong one. Beside `serve` events keep the mirror current,
 * so each one that is named is shown.
 */
const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "50" },
    beside: { type: "string", default: "nothing" },
    rate: { type: "string", default: "5" },
    seed: { type: "string", default: "1" },
  },
});

const secret = "whsec_of_the_live_runs_0123456789";
const port = await portToKeep();
const company = await openCompany({
  records: 40,
  webhooks: [{ url: `http://127.0.0.1:${port}/webhooks/acme`, secret }],
  retryScale: 0.008,
});
const { folder, proxy, sandbox } = company;
writeEventsConfig(
  { folder, baseUrl: proxy.baseUrl, token: sandbox.token, secret },
  "schedule: { sync: off, publish: off }",
);

/** The mirror's last complete reading, `performance.now()`. */
let readSinceMs = performance.now();
const running = { isOver: false };

await readAll();
const daemon = values.beside === "serve" ? await startServe(folder, port, 3_600_000) : null;
const changes = new LiveChanges(company, { seed: Number(values.seed), perSecond: Number(values.rate) });
const syncs = values.beside === "sync" ? syncAgainAndAgain() : null;
syncs?.catch(() => undefined);
const sum = { named: 0, wrong: 0, uncompared: 0, details: 0 };
try {
  for (let run = 1; run <= Number(values.runs); run++) await judgeRun(company, run);
} finally {
  running.isOver = true;
  await syncs;
  await changes.stop();
  if (daemon) await endServe(daemon, "SIGTERM");
  await company.close();
}
print(
  `${values.runs} runs of verify beside ${values.beside}, ${changes.count} changes: ${JSON.stringify(sum)}`,
);
process.exitCode = sum.wrong > 0 ? 1 : 0;

async function judgeRun({ folder: cwd }: Company, run: number): Promise<void> {
  if (values.beside === "nothing" && run % 5 === 0) await readAll();
  const sinceMs = readSinceMs;
  const args = run % 2 === 0 ? ["--all"] : ["--sample", "20"];
  const startedMs = performance.now();
  const verify = startProcess(cwd, ["verify", "--json", ...args], 600_000);
  const { code } = await verify.ended;
  const { companies } = JSON.parse(verify.stdout()) as { readonly companies?: Record<string, VerifyReport> };
  const report = companies?.["acme"];
  if (!report) throw new Error(`verify ended with ${code}: ${verify.stdout()} ${verify.stderr()}`);
  const [found, wrong] = [named(report), changes.wronglyNamed(report, sinceMs)];
  sum.named += found.length;
  sum.wrong += wrong.length;
  sum.uncompared += report.uncompared.length;
  sum.details += report.details_compared;
  const tookMs = Math.round(performance.now() - startedMs);
  const facts = `${report.details_compared} details, ${report.requests} requests, ${tookMs} ms, exit ${code}`;
  print(`run ${run} ${args.join(" ")}: ${facts}, ${found.length} named, ${wrong.length} wrongly`);
  for (const line of wrong) print(`  WRONG ${line}`);
  if (daemon) for (const line of found) print(`  named ${line}`);
  for (const one of report.uncompared) print(`  not compared: ${one.resource} ${one.id}: ${one.message}`);
}

/** A run that reads every detail. */
async function readAll(): Promise<void> {
  const beganMs = performance.now();
  const sync = startProcess(folder, ["sync", "--full", "--json"], 600_000);
  const { code } = await sync.ended;
  // 3: a record was deleted while the run read it.
  if (code !== 0 && code !== 3) throw new Error(`sync ended with ${code}: ${sync.stderr()}`);
  readSinceMs = beganMs;
}

async function syncAgainAndAgain(): Promise<void> {
  while (!running.isOver) await readAll();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
