import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import type { CompanyReport } from "../../../src/sync/context/run-report.ts";
import type { Company } from "../company/company.ts";
import {
  endOf as endOfProcess,
  runCommand,
  startProgram,
  type Ended as ProcessEnded,
} from "../program/cli.ts";

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

/** `sync` by the real program. */
export function startSync({ folder: cwd, sandbox }: Company, args: readonly string[] = []): ChildProcess {
  return startProgram(["sync", ...args, "--json"], { cwd, env: { FINTORO_TOKEN: sandbox.token } });
}

export interface Ended extends ProcessEnded {
  /** The company's report; null where the process was killed before it could give one. */
  readonly report: CompanyReport | null;
}

/** `sync` in this process. */
export async function syncHere(
  { folder: cwd, sandbox }: Company,
  args: readonly string[] = [],
): Promise<Ended> {
  const env = { FINTORO_TOKEN: sandbox.token };
  const ended = await runCommand(["sync", ...args, "--json"], { cwd, env });
  return { ...ended, report: reportIn(ended.stdout) };
}

export async function endOf(child: ChildProcess): Promise<Ended> {
  const ended = await endOfProcess(child);
  return { ...ended, report: reportIn(ended.stdout) };
}

function reportIn(stdout: string): CompanyReport | null {
  if (stdout.trim() === "") return null;
  return (JSON.parse(stdout) as { companies?: { acme?: CompanyReport } }).companies?.acme ?? null;
}
