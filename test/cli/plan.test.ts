import { describe, expect, test } from "vitest";
import { dayMs } from "../../src/base/clock.ts";
import type { RunPlan } from "../../src/sync/plan/estimate.ts";
import { openDatabase } from "../../src/store/database.ts";
import { runCommand } from "../support/program/cli.ts";
import { aCompany, aMirroredCompany, sync, type Company } from "../support/company/company.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { statusOf } from "../support/company/served-company.ts";
import { count } from "../support/truth/equal.ts";

const run = ({ folder: cwd }: Company, ...args: string[]) => runCommand(args, { cwd });

interface DryRun {
  readonly requests: Readonly<Record<"list" | "detail" | "child" | "scrub", number>>;
  readonly plan: RunPlan;
}

async function dryRun(company: Company, ...args: string[]): Promise<DryRun> {
  const { stdout } = await run(company, "sync", "--dry-run", "--json", ...args);
  return (JSON.parse(stdout) as { companies: { acme: DryRun } }).companies.acme;
}

/** As if everything had been read a day before. */
function age(company: Company): void {
  const db = openDatabase(company.file);
  const tables = db
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '\\_fence\\_%' ESCAPE '\\'")
    .pluck();
  for (const table of tables.all() as string[]) db.exec(`UPDATE "${table}" SET read_at = read_at - ${dayMs}`);
  db.exec(`UPDATE _parents SET listed_at = listed_at - ${dayMs}`);
  db.close();
}

describe("the plan", () => {
  test("of a run after an interrupted one has what that one left to be read", async () => {
    const company = writeServeConfig(await aMirroredCompany());
    expect((await run(company, "sync", "--full", "--max-requests", "35")).code).toBe(5);
    const { list, detail, child } = (await dryRun(company)).requests;
    expect((await sync(company)).requests).toMatchObject({ list, detail, child });
    expect(detail).toBeGreaterThan(0);
  });

  test("of a first run has what that then reads; of a night the scrub, unless it is not asked for", async () => {
    const company = writeServeConfig(await aCompany({ records: 3 }));
    const planned = await dryRun(company);
    expect(planned.plan.scrub).toEqual({ requests: 0, minutes: 0, total: 0, nights: 0 });
    const first = await sync(company);
    const { list, detail, child } = planned.requests;
    expect(first.requests).toMatchObject({ list, detail, child });
    const total = first.requests.detail + first.requests.child;
    expect(planned.plan.missing.requests).toBe(total);
    expect((await dryRun(company)).plan.scrub).toMatchObject({ requests: 0, total, nights: 1 });
    age(company);
    const { requests, plan } = await dryRun(company);
    expect(requests).toMatchObject({ detail: 0, child: 0, scrub: total });
    expect(plan.scrub).toMatchObject({ requests: total, nights: 1 });
    expect((await dryRun(company, "--no-scrub")).requests.scrub).toBe(0);
    expect((await dryRun(company, "--full")).requests).toMatchObject({ scrub: 0, total: expect.any(Number) });
    const text = await run(company, "sync", "--dry-run");
    expect(text.stdout).toContain("every detail and CRM parent read so far is proved every night");
    const made = JSON.parse((await run(company, "sync", "--json")).stdout) as {
      companies: { acme: { scrub: { read: number } } };
    };
    expect(made.companies.acme.scrub.read).toBe(total);
  });

  test("stands in status, with the stalest detail and parent's list of each resource", async () => {
    const company = writeServeConfig(await aMirroredCompany());
    const total = count(company.file, "SELECT count(*) FROM _parents") + detailsOf(company);
    const { plan, health } = await statusOf(company);
    expect(plan?.scrub).toMatchObject({ total, nights: 1, requests: total });
    expect(plan?.lists.requests).toBeGreaterThan(10);
    const resource = (name: string) => health?.resources.find((one) => one.name === name);
    const read = expect.stringMatching(/^\d{4}-/) as string;
    expect(resource("invoices")).toMatchObject({ oldest_detail_at: read, oldest_parent_at: null });
    expect(resource("contact_activity_logs")).toMatchObject({
      oldest_detail_at: null,
      oldest_parent_at: read,
    });
    const { stdout } = await run(company, "status");
    expect(stdout).toContain("every detail and CRM parent read so far is proved every night");
    expect(stdout).toMatch(/invoices .* ago +\d+\S*(?: \d+s)?\n/);
    writeServeConfig(company, "scrub: { time: 1m, cycle: 30d, at_most: 1m }\nrate_limit: { window: 1h }\n");
    expect((await statusOf(company)).plan?.scrub.nights).toBeGreaterThan(1);
  });
});

function detailsOf(company: Company): number {
  const tables = ["invoices", "credit_notes", "proformas", "orders", "quotations", "price_list_items"];
  return tables.reduce((sum, table) => {
    const sql = `SELECT count(*) FROM "_fence_${table}" WHERE source = 'detail' AND gone = 0`;
    return sum + count(company.file, sql);
  }, 0);
}
