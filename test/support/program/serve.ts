import { execFileSync, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { commands } from "../../../src/cli/commands/all-commands.ts";
import {
  createTestInvocation,
  endOf,
  startProgram,
  wholeLines,
  type Ended,
  type InvocationParts,
} from "./cli.ts";
import { secret } from "./deliveries.ts";
import { outputOf } from "./process-env.ts";
import type { Company } from "../company/company.ts";
import { eventually } from "../eventually.ts";

export interface ServedCompany {
  readonly name: string;
  readonly token: string;
  readonly secrets?: readonly string[];
  readonly publicUrl?: string;
}

/** The sandbox's companies under these names, in their order. */
export function named({ sandbox }: Company, ...names: readonly string[]): ServedCompany[] {
  return names.map((name, at) => ({ name, token: sandbox.companies[at]?.token ?? "" }));
}

/** Writes config.yaml beside the mirror; one company, `acme`, unless there are others. Gives the company. */
export function writeServeConfig(
  company: Company,
  more = "",
  companies: readonly ServedCompany[] = named(company, "acme"),
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
 * `serve` as a process of its own on a free port, once its mirror is open or cannot be opened. Unless the test
 * ends it, it is asked to end when the test is over, and has to end well.
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
  let isTestsEnd = false;
  onTestFinished(async () => {
    if (isTestsEnd) return;
    send("SIGTERM");
    expect((await ended).code, written.stderr).toBe(0);
  });
  await eventually(() => over || written.stdout.includes("\n"), "an address of serve");
  if (over) throw new Error(`serve ended: ${written.stderr}`);
  const { url } = JSON.parse(written.stdout) as { readonly url: string };
  const said = () => wholeLines(written.stderr);
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
  const end = (signal: NodeJS.Signals) => {
    isTestsEnd = true;
    send(signal);
    return ended;
  };
  return { url, said, heard, until, send, end, ended };
}

export function outcomeIn({ stdout }: Pick<Ended, "stdout">): unknown {
  return (JSON.parse(stdout) as { companies: { acme: { outcome: unknown } } }).companies.acme.outcome;
}

/** Processes that this one has started, and their command lines. */
export function childrenOf(parent: number | undefined): { readonly pid: number; readonly args: string }[] {
  const lines = execFileSync("ps", ["-A", "-o", "ppid=,pid=,args="], { encoding: "utf8" }).split("\n");
  const fields = lines.map((line) => line.trim().split(/\s+/));
  const own = fields.filter(([ppid]) => Number(ppid) === parent);
  return own.map(([, pid, ...args]) => ({ pid: Number(pid), args: args.join(" ") }));
}
