import Database from "better-sqlite3";
import { systemClock, type Clock } from "../../../src/base/clock.ts";
import type { VerifyReport } from "../../../src/verify/report.ts";
import { runCommand, type CommandResult } from "../program/cli.ts";
import type { Company } from "../company/company.ts";
import { writeServeConfig } from "../program/serve.ts";

/** Time passes five times as fast: what the mirror gets to catch up is real time for a daemon beside it. */
export const hasty: Clock = {
  nowMs: () => systemClock.nowMs(),
  monotonicMs: () => systemClock.monotonicMs() * 5,
  sleep: (ms, signal) => systemClock.sleep(ms / 5, signal),
};

export interface Verified extends CommandResult {
  readonly report: VerifyReport;
}

/** `verify --json` of the company's mirror, in this process. */
export async function verify(
  company: Company,
  args: readonly string[] = [],
  parts: Parameters<typeof runCommand>[1] = {},
): Promise<Verified> {
  writeServeConfig(company);
  const result = await runCommand(["verify", "--json", ...args], { cwd: company.folder, ...parts });
  const { companies } = JSON.parse(result.stdout) as { companies?: Record<string, VerifyReport> };
  const report = companies?.["acme"];
  if (!report) throw new Error(`verify said ${result.stdout} ${result.stderr}`);
  return { ...result, report };
}

/** Everything that a report names: `invoices 17 different total`. */
export function named({ resources }: VerifyReport): string[] {
  const lines = Object.entries(resources).flatMap(([name, { missing, extra, different, tombstoned }]) => [
    ...missing.map(({ id }) => `${name} ${id} missing`),
    ...extra.map(({ id }) => `${name} ${id} extra`),
    ...tombstoned.map(({ id }) => `${name} ${id} tombstoned`),
    ...different.map(({ id, field }) => `${name} ${id} different ${field}`),
  ]);
  return lines.toSorted();
}

/** Writes into the mirror behind its back. */
export function wound(company: Company, sql: string, ...values: unknown[]): void {
  const db = new Database(company.file);
  try {
    db.prepare(sql).run(...values);
  } finally {
    db.close();
  }
}

/** The first ids of a table's live rows. */
export function liveIds(company: Company, table: string, where = "1"): number[] {
  const db = new Database(company.file, { readonly: true });
  try {
    const sql = `SELECT id FROM ${table} WHERE _deleted_at IS NULL AND ${where} ORDER BY id`;
    return db.prepare(sql).pluck().all() as number[];
  } finally {
    db.close();
  }
}
