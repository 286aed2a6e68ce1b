import { execFileSync, type ChildProcess } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import type { SentEvent } from "../../../connectors/fintoro/sandbox/model/company.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { commands } from "../../../src/cli/commands/all-commands.ts";
import type { StepStatus } from "../../../src/status/after-run-record.ts";
import type { CompanyStatus } from "../../../src/status/read-status.ts";
import {
  createTestInvocation,
  endOf,
  runCommand,
  startProgram,
  wholeLines,
  type Ended,
  type InvocationParts,
} from "./cli.ts";
import { look } from "../truth/compare.ts";
import { outputOf } from "./process-env.ts";
import type { Company } from "../company/company.ts";
import { eventually } from "../eventually.ts";

export const secret = "whsec_acme_0123456789";

export interface ServedCompany {
  readonly name: string;
  readonly token: string;
  readonly secrets?: readonly string[];
  readonly publicUrl?: string;
}

/** Writes config.yaml beside the mirror; one company, `acme`, unless there are others. Gives the company. */
export function writeServeConfig(
  company: Company,
  more = "",
  companies: readonly ServedCompany[] = [{ name: "acme", token: company.sandbox.token }],
): Company {
  const entries = companies.map(
    ({ name, token, secrets = [secret], publicUrl }) =>
      `  ${name}: { token: ${token}, webhook: ${JSON.stringify({ secrets, public_url: publicUrl })} }`,
  );
  const lines = [`base_url: ${company.proxy.baseUrl}`, "companies:", ...entries];
  if (!more.includes("data_dir:")) lines.push("data_dir: .");
  lines.push(withoutReport(more));
  writeFileSync(path.join(company.folder, "config.yaml"), lines.join("\n"));
  return company;
}

/** A report after each run is a process more; who tests it says so in a `schedule`. */
function withoutReport(more: string): string {
  return more.includes("schedule:") ? more : `${more}\nschedule: { publish: off }`;
}

/** The real program, in the company's folder; killed with the test at the latest. */
export function startIn({ folder: cwd }: Company, args: readonly string[]): ChildProcess {
  return startProgram(args, { cwd });
}

export type Served = Awaited<ReturnType<typeof onceOpen>>;

const serveArgs = ["serve", "--json", "--listen", "127.0.0.1:0"];

/**
 * `serve` as a process of its own on a free port, once its mirror is open or cannot be opened. If the test leaves it
 * running, it is asked to end when the test is over, and has to end well.
 */
export async function serve(company: Company, args: readonly string[] = []) {
  const child = startIn(company, [...serveArgs, ...args]);
  const served = await onceOpen(outputOf(child), endOf(child), (signal) => void child.kill(signal));
  return { child, ...served };
}

/**
 * The same in this process, at a fifth of the cost: for what is not about a process. What it makes after runs is made
 * by processes of the source, which start slower.
 */
export async function serveHere(
  company: Company,
  { args = [], ...parts }: InvocationParts & { readonly args?: readonly string[] } = {},
): Promise<Served> {
  const { run, signals, written } = createTestInvocation([...serveArgs, ...args], {
    commands,
    clock: systemClock,
    cwd: company.folder,
    ...parts,
  });
  const ended = run();
  return onceOpen(written, ended, (signal) => void signals.emit(signal));
}

async function onceOpen(
  written: { readonly stdout: string; readonly stderr: string },
  ended: Promise<Ended>,
  send: (signal: NodeJS.Signals) => void,
) {
  let over = false;
  void ended.then(() => (over = true));
  onTestFinished(async () => {
    if (over) return;
    send("SIGTERM");
    expect((await ended).code, written.stderr).toBe(0);
  });
  await eventually(() => over || written.stdout.includes("\n"), "an address of serve");
  if (over) throw new Error(`serve ended: ${written.stderr}`);
  const { url } = JSON.parse(written.stdout) as { readonly url: string };
  /** Lines of its log so far. */
  const said = () => wholeLines(written.stderr);
  /** Has it said that? */
  const heard = (message: string) => said().some(({ msg }) => String(msg).includes(message));
  const until = (message: string) =>
    eventually(
      () => heard(message),
      () => `"${message}" in ${written.stderr}`,
    );
  // Deliveries get 503 until the mirror is open. One that cannot be opened is named in the log.
  const isOpenOrNot = () =>
    said().some(
      ({ level, msg }) => level === "error" || /^(?:the mirror is open|waiting: )/.test(String(msg)),
    );
  await eventually(isOpenOrNot, () => `an open mirror, or why not, in ${written.stderr}`);
  /** Sends the signal and waits for the end. */
  const end = (signal: NodeJS.Signals) => {
    send(signal);
    return ended;
  };
  return { url, said, heard, until, send, end, ended };
}

/** A child process is over. */
export async function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

export interface DeliverOptions {
  readonly to?: string;
  readonly secret?: string;
  /** How old its timestamp is. @default 0 */
  readonly agoMs?: number;
}

/** One delivery as the service would send it; gives the status. */
export async function deliver(
  { url }: Pick<Served, "url">,
  event: SentEvent,
  { to = "acme", secret: key = secret, agoMs = 0 }: DeliverOptions = {},
): Promise<number> {
  const body = JSON.stringify(event);
  const answer = await fetch(`${url}/webhooks/${to}`, {
    method: "POST",
    body,
    headers: {
      "content-type": "application/json",
      "webhook-id": event.id,
      "webhook-timestamp": String(Math.floor((Date.now() - agoMs) / 1000)),
      "webhook-signature": createHmac("sha256", key).update(body).digest("hex"),
    },
  });
  await answer.arrayBuffer();
  return answer.status;
}

export function eventAbout(type: string, resourceType: string, id: number): SentEvent {
  return {
    id: `evt_${randomUUID()}`,
    type,
    occurredAt: new Date().toISOString(),
    resource: { type: resourceType, id },
  };
}

/** What the mirror file holds; null where there is no such table yet. */
export function inMirror(company: Company, sql: string, ...values: unknown[]): unknown {
  try {
    return look(company.file, (db) =>
      db
        .prepare(sql)
        .pluck()
        .get(...values),
    );
  } catch {
    return null;
  }
}

/** A run that read everything is in the books. */
export function wholeRuns(company: Company): number {
  return Number(inMirror(company, "SELECT count(*) FROM _runs WHERE outcome = 'complete'") ?? 0);
}

/** What `sync --json` printed of the company. */
export function outcomeIn({ stdout }: Pick<Ended, "stdout">): unknown {
  return (JSON.parse(stdout) as { companies: { acme: { outcome: unknown } } }).companies.acme.outcome;
}

/** What `status --json` says of the company, and how it ends. */
export async function statusOf({ folder: cwd }: Company): Promise<CompanyStatus & { readonly code: number }> {
  const { code, stdout } = await runCommand(["status", "--json"], { cwd });
  return { code, ...(JSON.parse(stdout) as { companies: { acme: CompanyStatus } }).companies.acme };
}

/** What `/readyz` says of a company. */
interface CompanyReady extends Record<string, unknown> {
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly refused: Readonly<Record<string, number>>;
  readonly after_run: readonly StepStatus[];
}

/** The status of `/readyz`, what it says, and what it says of `acme`. */
export async function readyOf({ url }: Pick<Served, "url">) {
  const answer = await fetch(`${url}/readyz`);
  const said = (await answer.json()) as {
    readonly companies: Readonly<Record<string, CompanyReady>> & { readonly acme: CompanyReady };
    readonly refused_elsewhere: unknown;
  };
  return { ...said, status: answer.status, acme: said.companies.acme };
}

export async function metricsOf({ url }: Pick<Served, "url">): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

/** Processes that this one has started, and their command lines. */
export function childrenOf(parent: number | undefined): { readonly pid: number; readonly args: string }[] {
  const lines = execFileSync("ps", ["-A", "-o", "ppid=,pid=,args="], { encoding: "utf8" }).split("\n");
  const fields = lines.map((line) => line.trim().split(/\s+/));
  const own = fields.filter(([ppid]) => Number(ppid) === parent);
  return own.map(([, pid, ...args]) => ({ pid: Number(pid), args: args.join(" ") }));
}
