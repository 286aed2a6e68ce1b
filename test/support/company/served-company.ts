import type { StepStatus } from "../../../src/status/after-run-record.ts";
import type { CompanyStatus } from "../../../src/status/read-status.ts";
import { runCommand } from "../program/cli.ts";
import { cell } from "../truth/compare.ts";
import type { Company } from "./company.ts";

/** What the mirror file holds; null where there is no such table yet. */
export function inMirror(company: Company, sql: string, ...values: unknown[]): unknown {
  try {
    return cell(company.file, sql, ...values);
  } catch {
    return null;
  }
}

export function wholeRuns(company: Company): number {
  return Number(inMirror(company, "SELECT count(*) FROM _runs WHERE outcome = 'complete'") ?? 0);
}

/** What `status --json` says of the company, and how it ends. */
export async function statusOf({ folder: cwd }: Company): Promise<CompanyStatus & { readonly code: number }> {
  const { code, stdout } = await runCommand(["status", "--json"], { cwd });
  return { code, ...(JSON.parse(stdout) as { companies: { acme: CompanyStatus } }).companies.acme };
}

interface CompanyReady extends Record<string, unknown> {
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly refused: Readonly<Record<string, number>>;
  readonly after_run: readonly StepStatus[];
}

/** The status of `/readyz`, what it says, and what it says of `acme`. */
export async function readyOf({ url }: { readonly url: string }) {
  const answer = await fetch(`${url}/readyz`);
  const said = (await answer.json()) as {
    readonly companies: Readonly<Record<string, CompanyReady>> & { readonly acme: CompanyReady };
    readonly refused_elsewhere: unknown;
  };
  return { ...said, status: answer.status, acme: said.companies.acme };
}

export async function metricsOf({ url }: { readonly url: string }): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}
