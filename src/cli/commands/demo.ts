import { spawn } from "node:child_process";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { makeFolders } from "../../base/files/atomic-file.ts";
import { isoTime } from "../../base/clock.ts";
import { MirrorError, messageOf } from "../../base/errors.ts";
import type { Random } from "../../base/random.ts";
import { formatDuration } from "../../base/units.ts";
import type { CommandContext, RunningSandbox } from "../program/command.ts";
import { ownEntry } from "../program/own-process.ts";
import { shortPath } from "../../config/load.ts";
import { InboxView } from "../../state/inbox/inbox.ts";
import { Runs } from "../../state/runs.ts";
import { readDatabase } from "../../store/database.ts";
import type { CommandRun } from "../program/command-table.ts";

/** Faster than the real service, so that hours take a minute. */
const sandboxRequest = {
  seed: 7,
  records: 400,
  limit: 100_000,
  windowMs: 60_000,
  latencyMs: 40,
  retryScale: 0.5,
};

/** Each throws where something is not as it should be. */
const steps: readonly (readonly [title: string, step: (demo: DemoSetup) => Promise<void>])[] = [
  ["A first sync, and the plug is pulled in the middle of it", crashSync],
  ["The next sync goes on where it was", resumeSync],
  ["The service changes; an ordinary nightly run brings it in", nightlySync],
  ["Seconds behind: serve hears of changes by webhook", serveWebhooks],
  ["The answer to a question: in plain SQL, as CSV, as Parquet", publishFiles],
];

export const demoCommand: CommandRun<"demo"> = async (context, { options }) => {
  const { globals, output, cwd, connector } = context;
  const folder = path.resolve(cwd, options.out ?? "demo");
  const print = (line: string) => (globals.json ? Promise.resolve() : output.line(line));
  await using sandbox = await connector.startSandbox(sandboxRequest);
  await print("A stand-in for the service runs on this machine, with a made-up company of 400 documents.");
  await print("It answers faster than the real one, which allows 120 requests a minute.");
  await using demo = new DemoSetup(context, sandbox, folder, print);
  for (const [index, [title, step]] of steps.entries()) {
    await print(`\n${index + 1}. ${title}`);
    await step(demo);
  }
  const [database, report] = [demo.database, demo.report].map((file) => shortPath(file, cwd));
  if (globals.json) await output.json({ database: demo.database, report: demo.report, complete: true });
  await print(`\nAll of it is yours to open, in ${folder}`);
  await demo.print(`sqlite3 ${database} "SELECT number, client_name, total_with_vat FROM invoices"`);
  await demo.print(`sqlite3 ${report} "SELECT * FROM v_revenue_by_month"`);
  return "complete";
};

/** After the lists, in the middle of the documents. */
const crashAfterRequests = 480;

async function crashSync(demo: DemoSetup): Promise<void> {
  const { sandbox } = demo;
  const sync = await demo.start("sync");
  const isUnderWay = () => sync.isOver || sandbox.requestCount() >= crashAfterRequests;
  await demo.waitFor("the sync is under way", isUnderWay, Infinity);
  const how = sync.isOver ? "it was faster than the kill" : "killed with SIGKILL";
  sync.child.kill("SIGKILL");
  await sync.ended;
  await demo.print(`${how} after ${sandbox.requestCount()} requests`);
}

async function resumeSync(demo: DemoSetup): Promise<void> {
  const before = demo.sandbox.requestCount();
  await demo.run("sync");
  const requests = demo.sandbox.requestCount() - before;
  await demo.print(`${requests} more requests: nothing was read twice but what was in flight`);
  await demo.run("verify");
}

async function nightlySync(demo: DemoSetup): Promise<void> {
  for (const { sentence } of demo.makeChanges()) await demo.print(sentence);
  await demo.run("sync");
}

const debtors = `SELECT client_name AS client, sum(invoices) AS invoices, round(sum(to_be_paid), 2) AS owed
  FROM v_receivables WHERE currency = 'EUR' GROUP BY buyer ORDER BY owed DESC LIMIT 3`;

async function publishFiles(demo: DemoSetup): Promise<void> {
  await demo.run("publish");
  await demo.print("in its view v_receivables, who owes us how much:");
  for (const row of readDatabase(demo.report, (db) => db.prepare(debtors).all())) {
    const { client, invoices, owed } = row as { client: string; invoices: number; owed: number };
    const name = client.replaceAll(/\s/g, " ").padEnd(40);
    await demo.print(`${name} ${String(invoices).padStart(3)} unpaid  ${owed.toFixed(2).padStart(12)} EUR`);
  }
  const args = ["invoices", "v_receivables", "--out", demo.inFolder("export"), "--format"];
  for (const format of ["csv", "parquet"]) await demo.run("export", ...args, format);
}

const runsWithinMs = 60_000;
/** For an event that nobody received: the third attempt, in case the second one came too early. */
const retriedWithinMs = 75_000;

/** `serve` mirrors changes at once; after a kill and a restart also those in between. */
export async function serveWebhooks(demo: DemoSetup): Promise<void> {
  await demo.receive();
  await demo.run("webhooks", "create", "--token-env", writeTokenVariable);
  const since = demo.now();
  const serve = await demo.serve();
  await demo.waitFor("the first run ends", () => runOutcome(demo, since) !== null, runsWithinMs);
  const outcome = runOutcome(demo, since);
  await demo.print(`nobody listened before, so it looks through every list once: ${outcome}`);
  for (const change of demo.makeChanges()) {
    await demo.waitFor(`"${change.sentence}" is in the mirror`, () => isMirrored(demo, change));
    await demo.print(`${change.sentence}: in the mirror ${change.elapsedMs()} ms later`);
  }
  serve.child.kill("SIGKILL");
  await serve.ended;
  await demo.print("serve is killed with SIGKILL; meanwhile");
  await mirrorMissedChanges(demo);
}

/** Outcome of the last run that ended since; null: none has. */
function runOutcome({ database }: DemoSetup, since: string): string | null {
  const ended = readDatabase(database, (db) => new Runs(db).lastEnded());
  return ended && ended.finishedAt >= since ? ended.outcome : null;
}

interface TimedChange {
  readonly table: string;
  readonly id: number;
  readonly since: string;
}

function isMirrored({ database }: DemoSetup, { table, id, since }: TimedChange): boolean {
  const sql = `SELECT 1 FROM ${table} WHERE id = ? AND _synced_at >= ?`;
  return readDatabase(database, (db) => db.prepare(sql).get(id, since)) !== undefined;
}

/** Makes changes while nobody listens; the service's retries bring them in after a restart. */
async function mirrorMissedChanges(demo: DemoSetup): Promise<void> {
  const failedBefore = demo.deliveries().failed;
  const made = [...demo.makeChanges()];
  for (const { sentence } of made) await demo.print(sentence);
  const failed = () => demo.deliveries().failed - failedBefore;
  await demo.waitFor("a delivery fails", () => failed() > 0 && !areAllDelivered(demo));
  await demo.print(`the service has tried ${failed()} times in vain, and will try again`);
  const elapsedMs = demo.stopwatch();
  const serve = await demo.serve();
  const isWhole = () => areAllDelivered(demo) && made.every((change) => isMirrored(demo, change));
  await demo.waitFor("all of it is in the mirror", isWhole, retriedWithinMs);
  await demo.print(`serve is started again; all of it is in the mirror after ${formatDuration(elapsedMs())}`);
  // The last reads may still be under way when the expected rows are there.
  const isRead = () => readDatabase(demo.database, (db) => new InboxView(db).waiting() === 0);
  await demo.waitFor("every event is read", isRead);
  serve.child.kill("SIGTERM");
  const code = await serve.ended;
  await demo.print(`SIGTERM: serve finishes what it has begun and exits ${code ?? "by force"}`, code === 0);
  await demo.run("verify");
}

function areAllDelivered(demo: DemoSetup): boolean {
  const { events, delivered } = demo.deliveries();
  return delivered === events;
}

const demoCompany = "acme";
/** Variable with the token that may write, for `webhooks create` alone. */
const writeTokenVariable = "DEMO_WRITE_TOKEN";
const marker = ".fintoro-mirror-demo";

type DemoProcess = Awaited<ReturnType<DemoSetup["start"]>>;

const mostPrintedLines = 3;

/**
 * What the steps of the demo work with: a folder with a config, commands as processes, and the sandbox. No process
 * outlives it: its end and the end of this process kill those that still run.
 */
export class DemoSetup {
  readonly folder: string;
  readonly database: string;
  readonly report: string;
  private readonly context: CommandContext;
  readonly sandbox: RunningSandbox;
  private readonly printLine: (line: string) => Promise<void>;
  private readonly running = new Set<DemoProcess>();
  private readonly killAll = () => {
    for (const { child } of this.running) child.kill("SIGKILL");
  };

  /** Empties the folder and writes a config into it. Throws MirrorError `usage` when it holds files that no demo made. */
  constructor(
    context: CommandContext,
    sandbox: RunningSandbox,
    folder: string,
    printLine: (line: string) => Promise<void>,
  ) {
    emptyFolder(folder);
    this.context = context;
    this.sandbox = sandbox;
    this.printLine = printLine;
    this.folder = folder;
    this.database = this.inFolder(`${demoCompany}.db`);
    this.report = this.inFolder(`${demoCompany}.report.db`);
    this.writeConfig("");
    process.once("exit", this.killAll);
  }

  /** Prints a finding. Throws MirrorError `protocol` with it where it is not as it should be. */
  async print(text: string, isRight = true): Promise<void> {
    if (!isRight) throw new MirrorError("protocol", `this is not as it should be: ${text}`);
    await this.printLine(`   ${text}`);
  }

  inFolder(name: string): string {
    return path.join(this.folder, name);
  }

  async start(...args: readonly string[]) {
    await this.print(`$ fintoro-mirror ${args.join(" ")}`);
    const { token, companies } = this.sandbox;
    const tokens = { DEMO_TOKEN: companies[0]?.readToken ?? token, [writeTokenVariable]: token };
    const env = { ...process.env, ...tokens };
    const command = [ownEntry(), ...args, "--config", this.inFolder("config.yaml")];
    const child = spawn(process.execPath, command, { env, stdio: ["ignore", "pipe", "pipe"] });
    /** `ended`: the exit code; null when a signal ended it. */
    const { promise: ended, resolve } = Promise.withResolvers<number | null>();
    const started = { child, ended, isOver: false, stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (started.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (started.stderr += text));
    child.once("error", (error) => (started.stderr += messageOf(error)));
    child.once("close", (code) => {
      started.isOver = true;
      this.running.delete(started);
      resolve(code);
    });
    this.running.add(started);
    return started;
  }

  /** Runs a command to its end, and prints what it printed. Throws MirrorError `protocol` when it exits with anything but 0. */
  async run(...args: readonly string[]): Promise<void> {
    const started = await this.start(...args);
    if ((await started.ended) !== 0) throw failedCommand(args, started);
    await this.printOutput(started);
  }

  async serve(): Promise<DemoProcess> {
    const started = await this.start("serve");
    await this.waitFor("serve listens", () => started.stdout.includes("\n") || started.isOver);
    if (started.isOver) throw failedCommand(["serve"], started);
    await this.printOutput(started);
    return started;
  }

  private async printOutput({ stdout }: DemoProcess): Promise<void> {
    const lines = stdout.trimEnd().split("\n");
    for (const line of lines.slice(0, mostPrintedLines)) await this.print(line);
    if (lines.length > mostPrintedLines) await this.print("  ...");
  }

  /** Makes `serve` listen on a free port, and deliveries go there. */
  async receive(): Promise<void> {
    const port = await freePort(this.context.random);
    this.writeConfig(`    webhook:
      secrets: ["\${file:./${demoCompany}.webhook-secret}"]
      public_url: http://127.0.0.1:${port}/webhooks/${demoCompany}
serve: { listen: "127.0.0.1:${port}" }
`);
  }

  /** Events sent so far and those answered with 2xx; attempts without such an answer. */
  deliveries(): Record<"events" | "delivered" | "failed", number> {
    const attempts = this.sandbox.attempts();
    const good = attempts.filter(({ outcome }) => outcome === "delivered");
    const eventsOf = (some: typeof attempts) => new Set(some.map(({ eventId }) => eventId)).size;
    return { events: eventsOf(attempts), delivered: eventsOf(good), failed: attempts.length - good.length };
  }

  /** Makes the changes of an ordinary morning at the service, each when it is asked for; timed from just before. */
  *makeChanges() {
    for (const change of this.sandbox.changes())
      yield { since: this.now(), elapsedMs: this.stopwatch(), ...change.make() };
  }

  /** The wall clock, ISO: what the mirror writes from now on is not older. */
  now(): string {
    return isoTime(this.context.clock.nowMs());
  }

  stopwatch(): () => number {
    const { clock } = this.context;
    const startedMs = clock.monotonicMs();
    return () => Math.ceil(clock.monotonicMs() - startedMs);
  }

  /** Waits until `isSo` holds, asked every 5 ms. Throws MirrorError `protocol` after that time, `stopped` when it is to stop. */
  async waitFor(what: string, isSo: () => boolean, withinMs = 30_000): Promise<void> {
    const { clock, signal } = this.context;
    for (const elapsedMs = this.stopwatch(); !isSo(); await clock.sleep(5, signal)) {
      if (signal.aborted) throw new MirrorError("stopped", "the demo was stopped");
      if (elapsedMs() < withinMs) continue;
      throw new MirrorError("protocol", `after ${formatDuration(withinMs)} it does not hold that ${what}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.killAll();
    await Promise.all([...this.running].map(({ ended }) => ended));
    process.off("exit", this.killAll);
  }

  private writeConfig(more: string): void {
    const text = `base_url: ${this.sandbox.url}
data_dir: .
companies:
  ${demoCompany}:
    token: "\${env:DEMO_TOKEN}"
${more}`;
    writeFileSync(this.inFolder("config.yaml"), text);
  }
}

function failedCommand(args: readonly string[], { stdout, stderr }: DemoProcess): MirrorError {
  return new MirrorError("protocol", `${args.join(" ")} of the demo failed: ${stdout}${stderr}`.trimEnd());
}

/** Not of the range that systems give out: the port stays free while its owner is killed and started again. */
export async function freePort(random: Random): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = 20_000 + Math.floor(random.next() * 12_000);
    if (await isFree(port)) return port;
  }
  throw new MirrorError("usage", "no port from 20000 to 32000 is free");
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** Also marks the folder as one that a demo may empty. */
function emptyFolder(folder: string): void {
  makeFolders(folder);
  const files = readdirSync(folder);
  if (files.length > 0 && !files.includes(marker))
    throw new MirrorError("usage", `${folder} holds other files`, {
      hint: "name an empty folder with --out",
    });
  for (const file of files) rmSync(path.join(folder, file), { recursive: true, force: true });
  writeFileSync(path.join(folder, marker), "made by `fintoro-mirror demo`; may be deleted\n");
}
