import { readFileSync, writeFileSync } from "node:fs";
import { dayMs, systemClock, type Clock } from "../../../src/base/clock.ts";
import type { VerifyFindings } from "../../../src/verify/findings.ts";
import { runCommand } from "../program/cli.ts";
import type { Company } from "../company/company.ts";
import { writeServeConfig } from "../program/serve.ts";
import { look } from "../truth/compare.ts";
import { openDatabase } from "../../../src/store/database.ts";

/** Time passes five times as fast: what the mirror gets to catch up is real time for a daemon beside it. */
export const hasty: Clock = {
  nowMs: () => systemClock.nowMs(),
  monotonicMs: () => systemClock.monotonicMs() * 5,
  sleep: (ms, signal) => systemClock.sleep(ms / 5, signal),
};

/** `verify --json` of the company's mirror, in this process. */
export async function verify(
  company: Company,
  args: readonly string[] = [],
  parts: Parameters<typeof runCommand>[1] = {},
) {
  writeServeConfig(company);
  const result = await runCommand(["verify", "--json", ...args], { cwd: company.folder, ...parts });
  const { companies } = JSON.parse(result.stdout) as { companies?: Record<string, VerifyFindings> };
  const report = companies?.["acme"];
  if (!report) throw new Error(`verify said ${result.stdout} ${result.stderr}`);
  return { ...result, report };
}

/** Everything that a report names: `invoices 17 different total`. */
export function named({ resources }: VerifyFindings): string[] {
  const lines = Object.entries(resources).flatMap(([name, { missing, extra, different, tombstoned }]) => [
    ...missing.map(({ id }) => `${name} ${id} missing`),
    ...extra.map(({ id }) => `${name} ${id} extra`),
    ...tombstoned.map(({ id }) => `${name} ${id} tombstoned`),
    ...different.map(({ id, field }) => `${name} ${id} different ${field}`),
  ]);
  return lines.toSorted();
}

/** Writes into the mirror behind its back. */
export function wound({ file }: Pick<Company, "file">, sql: string, ...values: unknown[]): void {
  using db = openDatabase(file);
  db.prepare(sql).run(...values);
}

/** As if all details and parents' lists had been read so many days earlier. */
export function readEarlier({ file }: Pick<Company, "file">, days: number): void {
  using db = openDatabase(file);
  const tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB '_fence_*'");
  for (const table of tables.pluck().all() as string[])
    db.exec(`UPDATE "${table}" SET read_at = read_at - ${days * dayMs}`);
  db.exec(`UPDATE _parents SET listed_at = listed_at - ${days * dayMs}`);
}

/** Has the mirror open as before, but the page where a table begins is damaged. */
export function damageTable({ file }: Pick<Company, "file">, table: string): void {
  using db = openDatabase(file);
  db.pragma("wal_checkpoint(TRUNCATE)");
  const pages = db.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?").pluck();
  const root = pages.get(table) as number;
  const size = db.pragma("page_size", { simple: true }) as number;
  db.close();
  const bytes = readFileSync(file);
  bytes.fill(0xab, (root - 1) * size, root * size);
  writeFileSync(file, bytes);
}

export function liveIds({ file }: Company, table: string, where = "1"): number[] {
  const sql = `SELECT id FROM ${table} WHERE _deleted_at IS NULL AND ${where} ORDER BY id`;
  return look(file, (db) => db.prepare(sql).pluck().all() as number[]);
}
