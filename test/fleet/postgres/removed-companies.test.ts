import { expect } from "vitest";
import {
  forgetCompany,
  forgetRemoved,
  readRemovedCompanies,
} from "../../../src/fleet/postgres/tables/removed-companies.ts";
import { readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import { openFleet, deliveries, ttlMs, test, type Fleet } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const tables = ["inbox", "inbox_heads", "changes", "snapshots", "reports", "packages", "alerts"] as const;

function rowsOf({ postgres }: Fleet, company: string): Promise<number[]> {
  const of = (table: string) => `SELECT FROM fintoro_mirror.${table} WHERE company = '${company}'`;
  return Promise.all(tables.map(async (table) => (await postgres.query(of(table))).length));
}

/** A released company that has something in each table; one delivery waits. */
async function used(fleet: Fleet, company: string): Promise<void> {
  const owner = await fleet.owned(company);
  await fleet.inbox.add(company, deliveries("e1", "e2"));
  await fleet.publishUpTo(owner, 3, 1);
  await fleet.reports.begin(owner, 1, []);
  await fleet.postgres.query("INSERT INTO fintoro_mirror.alerts VALUES ($1, '{}')", [company]);
  await fleet.packages.ask([company], "2026-10", false);
  await fleet.owners.release(owner);
}

const pass = ({ set }: Fleet, days: number) =>
  set("companies", `changed_at = changed_at - interval '${days} days'`);

async function forgetAll({ postgres }: Fleet): Promise<number> {
  let forgotten = 0;
  while (await forgetRemoved(postgres)) forgotten++;
  return forgotten;
}

describeWithPostgres("a company that left the fleet", () => {
  test("comes back as it was within 30 days, its waiting deliveries too; what was refused meanwhile counts as lost", async () => {
    const fleet = await openFleet();
    await used(fleet, "acme");
    const before = await fleet.companies.find("acme");
    await fleet.companies.put("acme", { language: "sk" });
    expect((await fleet.companies.find("acme"))?.addedAtMs).toBe(before?.addedAtMs);
    await fleet.companies.remove("acme");
    await pass(fleet, 29);
    expect(await forgetAll(fleet)).toBe(0);
    const all = await rowsOf(fleet, "acme");
    expect(all).toEqual([2, 1, 3, 1, 1, 1, 1]);
    expect(await fleet.companies.put("acme", {})).toBe("added");
    expect((await fleet.companies.find("acme"))?.addedAtMs).toBeGreaterThan(before?.addedAtMs ?? Infinity);
    expect(await fleet.owners.claim("acme", "node-2", ttlMs)).toMatchObject({ epoch: 2 });
    await pass(fleet, 60);
    expect(await forgetAll(fleet)).toBe(0);
    expect(await rowsOf(fleet, "acme")).toEqual(all);
  });

  test("is forgotten after that but for its epoch, some rows at a time and whatever waits; others are not", async () => {
    const fleet = await openFleet();
    for (const name of ["acme", "beta", "stays"]) await used(fleet, name);
    await fleet.postgres.query(`INSERT INTO fintoro_mirror.inbox (company, seq, event_id, body)
      SELECT 'acme', n, 'x' || n, '' FROM generate_series(3, 5003) n`);
    await fleet.companies.remove("acme");
    await fleet.companies.remove("beta");
    await pass(fleet, 31);
    const [shown] = await readRemovedCompanies(fleet.postgres);
    expect(Date.parse(shown?.kept_until ?? "")).toBeLessThan(Date.now());
    await fleet.atOnce(3, () => forgetRemoved(fleet.postgres));
    await forgetAll(fleet);
    for (const name of ["acme", "beta"]) expect(await rowsOf(fleet, name), name).toEqual(Array(7).fill(0));
    expect(await rowsOf(fleet, "stays")).toEqual([2, 1, 3, 1, 1, 1, 1]);
    expect(await readRemovedCompanies(fleet.postgres)).toEqual([]);
    expect(await fleet.companies.find("acme")).toMatchObject({ removed: true, config: {}, account: null });
    await fleet.add("acme");
    // A node that had it in epoch 1 does not go on from its file.
    expect(await fleet.owners.claim("acme", "node-1", ttlMs)).toMatchObject({ epoch: 3 });
    await fleet.companies.remove("acme");
    expect(await readRemovedCompanies(fleet.postgres)).toMatchObject([{ company: "acme" }]);
  });

  test("is forgotten at once where that is asked for, once it is released, but for the last number of its changes", async () => {
    const fleet = await openFleet();
    await used(fleet, "acme");
    const owner = await fleet.owned("acme");
    expect(await forgetCompany(fleet.postgres, "acme")).toBe("present");
    await fleet.companies.remove("acme");
    expect(await forgetCompany(fleet.postgres, "acme")).toBe("owned");
    await fleet.owners.release(owner);
    for (let time = 0; time < 2; time++) {
      await fleet.companies.remove("acme");
      expect(await forgetCompany(fleet.postgres, "acme")).toBe("forgotten");
      await fleet.companies.put("acme", {});
    }
    expect(await fleet.companies.find("acme")).toMatchObject({ lastSeq: 3 });
  });

  test("is not forgotten by a database that was restored since: it may have come back", async ({ fleet }) => {
    await used(fleet, "acme");
    await fleet.companies.remove("acme");
    await pass(fleet, 31);
    await fleet.set("timeline", "number = 2, started_at = now()");
    expect(await forgetAll(fleet)).toBe(0);
    const { removed } = await readFleetStatus(fleet.postgres, null);
    expect(removed?.companies).toBe(1);
    expect(Date.parse(removed?.next_forgotten_at ?? "") - Date.now()).toBeGreaterThan(29 * 86_400_000);
  });
});
