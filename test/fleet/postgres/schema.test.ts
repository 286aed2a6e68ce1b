import { expect } from "vitest";
import { migrateFleet } from "../../../src/fleet/postgres/schema.ts";
import { findWaitingCompanies, waitingCompanies } from "../../../src/fleet/postgres/tables/owners-table.ts";
import { deliveries, openFleet, test } from "../../support/fleet/fleet.ts";
import { rejectionOf } from "../../support/errors.ts";
import { connectNode, describeWithPostgres, freshDatabase } from "../../support/postgres/databases.ts";

describeWithPostgres("the fleet's tables", () => {
  test("are made once when five nodes start at the same time", async () => {
    const url = await freshDatabase({ tables: false });
    const nodes = await Promise.all(["a", "b", "c", "d", "e"].map((node) => connectNode(url, node, 2)));
    await Promise.all(nodes.map((postgres) => migrateFleet(postgres)));
    const applied = await nodes[0]?.query("SELECT version FROM fintoro_mirror.migrations ORDER BY version");
    expect(applied).toEqual([{ version: 1 }]);
  });

  test("of a newer version are refused, with what to do", async ({ fleet: { postgres } }) => {
    await postgres.query("INSERT INTO fintoro_mirror.migrations (version) VALUES (99)");
    const { kind, retryable, hint, message } = await rejectionOf(migrateFleet(postgres));
    expect([kind, retryable, hint]).toEqual(["database", false, expect.stringContaining("other nodes")]);
    expect(message).toMatch(/version 99; this program knows up to \d+/);
  });

  test("need no right to create anything once they are there", async ({ fleet: { url, postgres } }) => {
    await postgres.query(`DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN;
      GRANT USAGE ON SCHEMA fintoro_mirror TO reader; GRANT ALL ON ALL TABLES IN SCHEMA fintoro_mirror TO reader`);
    const limited = await connectNode(url.replace("postgres@", "reader@"));
    await expect(migrateFleet(limited)).resolves.toBeUndefined();
    await postgres.query("DROP OWNED BY reader; DROP SCHEMA fintoro_mirror CASCADE");
    const { kind, hint } = await rejectionOf(migrateFleet(limited));
    expect([kind, hint]).toEqual(["database", expect.stringContaining("Grant the user")]);
    await limited.close();
    await postgres.query("DROP ROLE reader");
  });

  test("a migration that fails leaves nothing half made", async () => {
    const url = await freshDatabase({ tables: false });
    const postgres = await connectNode(url);
    await postgres.query("CREATE SCHEMA fintoro_mirror; CREATE TABLE fintoro_mirror.reports (n int)");
    await expect(migrateFleet(postgres)).rejects.toThrow(/already exists/);
    const names = "SELECT tablename FROM pg_tables WHERE schemaname = 'fintoro_mirror'";
    expect(await postgres.query(names)).toEqual([{ tablename: "reports" }]);
  });
});

describeWithPostgres("companies that nobody looks after", () => {
  test("are found: a lost owner, deliveries without an owner; not: one that is looked after, drained or removed", async () => {
    const fleet = await openFleet();
    await fleet.owned("idle");
    await fleet.owned("busy");
    await fleet.inbox.add("busy", deliveries("e1"));
    await fleet.owned("lost");
    await fleet.expire("lost");
    await fleet.add("waiting");
    await fleet.inbox.add("waiting", deliveries("e1"));
    const drained = await fleet.owned("drained");
    await fleet.inbox.add("drained", deliveries("e1"));
    await fleet.publishUpTo(drained, 1, 1);
    await fleet.owners.release(drained);
    const both = await fleet.owned("both");
    await fleet.inbox.add("both", deliveries("e1"));
    await fleet.expire(both.company);
    await fleet.owned("removed");
    await fleet.expire("removed");
    await fleet.companies.remove("removed");
    const found = await findWaitingCompanies(fleet.postgres, 100);
    const reasons = Object.fromEntries(found.map(({ company, reason }) => [company, reason]));
    expect(reasons).toEqual({ both: "left", lost: "left", waiting: "inbox" });
    expect(await findWaitingCompanies(fleet.postgres, 2)).toHaveLength(2);
  });

  test("are found among 20,000 from indexes, without reading the others", async ({ fleet }) => {
    const numbers = "FROM generate_series(1, 20000) n";
    // One at a time: each answer has its own deadline, and a busy machine needs most of it.
    for (const statement of [
      `INSERT INTO fintoro_mirror.companies (name, config) SELECT 'c' || n, '{}' ${numbers}`,
      `INSERT INTO fintoro_mirror.owners SELECT 'c' || n, 1, CASE WHEN n % 50 = 0 THEN 'node-' || n % 20 END,
        now() + CASE WHEN n % 5000 = 0 THEN interval '-1 s' ELSE interval '1 hour' END ${numbers}`,
      `INSERT INTO fintoro_mirror.inbox_heads SELECT 'c' || n, 100, CASE WHEN n % 1000 = 7 THEN 99 ELSE 100 END ${numbers}`,
      "ANALYZE fintoro_mirror.companies, fintoro_mirror.owners, fintoro_mirror.inbox_heads",
    ])
      await fleet.postgres.query(statement);
    const plan = await fleet.planOf(waitingCompanies(1_000));
    for (const index of ["owners_held", "inbox_heads_waiting"]) expect(plan).toContain(index);
    expect(plan).not.toContain("Seq Scan");
    expect(await findWaitingCompanies(fleet.postgres, 1_000)).toHaveLength(24);
  });
});
