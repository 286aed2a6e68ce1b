import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { systemClock } from "../../../src/base/clock.ts";
import { commands } from "../../../src/cli/commands/all-commands.ts";
import type { CompanyReport } from "../../../src/sync/context/run-report.ts";
import type { Company } from "../company/company.ts";
import { createTestInvocation } from "../program/cli.ts";
import { processEnv, program } from "../program/process-env.ts";
import { longestWaitMs } from "../eventually.ts";

/** Writes the company's config.yaml: its mirror is the same file that runs in this process write. */
export function writeConfig(company: Company, more = ""): string {
  const file = path.join(company.folder, "config.yaml");
  const lines = [
    `base_url: ${company.proxy.baseUrl}`,
    `data_dir: ${company.folder}`,
    "companies: { acme: { token: '${env:FINTORO_TOKEN}' } }",
    more,
    ...(more.includes("schedule:") ? [] : ["schedule: { publish: off }"]),
  ];
  writeFileSync(file, lines.join("\n"));
  return file;
}

/** The real program as a process of its own, ended after 50 s whatever it does. */
export function startSync(company: Company, args: readonly string[] = []): ChildProcess {
  const config = path.join(company.folder, "config.yaml");
  return spawn(process.execPath, [program, "sync", ...args, "--json", "--config", config], {
    env: processEnv({ FINTORO_TOKEN: company.sandbox.token }),
    stdio: ["ignore", "pipe", "pipe"],
    timeout: longestWaitMs,
    killSignal: "SIGKILL",
  });
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The company's report; null where the process was killed before it could give one. */
  readonly report: CompanyReport | null;
}

/** `sync` in this process. It gets the signal of the moment, whose request is counted from its start. */
export async function syncHere(
  { folder: cwd, sandbox, proxy }: Company,
  args: readonly string[] = [],
  moment?: Required<Pick<Moment, "request" | "signal">>,
): Promise<Ended> {
  const { run, signals } = createTestInvocation(["sync", ...args, "--json"], {
    commands,
    clock: systemClock,
    cwd,
    env: { FINTORO_TOKEN: sandbox.token },
  });
  const at = moment && proxy.asked.length + moment.request;
  const remove = proxy.obstruct(({ n }) => {
    if (n === at && moment) signals.emit(moment.signal);
    return undefined;
  });
  const ended = await run().finally(remove);
  return { ...ended, report: reportIn(ended.stdout) };
}

export async function endOf(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr, report: reportIn(stdout) };
}

function reportIn(stdout: string): CompanyReport | null {
  if (stdout.trim() === "") return null;
  return (JSON.parse(stdout) as { companies?: { acme?: CompanyReport } }).companies?.acme ?? null;
}

export interface Moment {
  /** Counted from the start of the process. */
  readonly request: number;
  /** After that request's answer left; 0 kills before it is answered. */
  readonly afterMs: number;
  readonly signal?: NodeJS.Signals;
}

/** Runs a sync and ends it at the moment; whether it got that far shows in the code. */
export async function syncUntil(
  company: Company,
  moment: Moment,
  args: readonly string[] = [],
): Promise<Ended> {
  const child = startSync(company, args);
  const at = company.proxy.asked.length + moment.request;
  const end = () => void child.kill(moment.signal ?? "SIGKILL");
  const remove = company.proxy.obstruct(async (asked, passOn) => {
    if (asked.n !== at) return undefined;
    if (moment.afterMs === 0) {
      end();
      return undefined;
    }
    const reply = await passOn();
    setTimeout(end, moment.afterMs);
    return reply;
  });
  return endOf(child).finally(remove);
}
