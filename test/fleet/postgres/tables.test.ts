import { expect } from "vitest";
import { type ChangeRow, pruneChanges } from "../../../src/fleet/postgres/tables/snapshots-table.ts";
import { pruneInbox } from "../../../src/fleet/postgres/tables/inbox-table.ts";
import { changesUpTo, deliveries, openFleet, test, type Fleet } from "../../support/fleet/fleet.ts";
import { describeWithPostgres, connectNode, freshDatabase } from "../../support/postgres/databases.ts";
import { migrateFleet } from "../../../src/fleet/postgres/schema.ts";
import { findWaitingCompanies, waitingCompanies } from "../../../src/fleet/postgres/tables/owners-table.ts";
import { rejectionOf } from "../../support/errors.ts";

describeWithPostgres("the companies of a fleet", () => {
  test("a later list has what changed since, removals and late commits too, and leaves out what did not", async () => {
    const { companies, postgres, set } = await openFleet();
    await companies.put("old", {});
    await set("companies", "changed_at = now() - interval '5 minutes'");
    await companies.put("acme", {});
    const { asOfMs, companies: all } = await companies.list();
    expect(all).toMatchObject([{ name: "acme" }, { name: "old" }]);
    await companies.remove("acme");
    expect((await companies.list(asOfMs)).companies).toMatchObject([{ name: "acme", removed: true }]);
    const late = await postgres.transaction(async (sql) => {
      await sql.query("INSERT INTO fintoro_mirror.companies (name, config) VALUES ('late', '{}')");
      return companies.list();
    });
    const { companies: later } = await companies.list(late.asOfMs);
    expect(later.map(({ name }) => name)).toContain("late");
  });
});

const node1 = { node: "node-1", version: "1.2.3", role: "all", held: 2, capacity: 50 };

describeWithPostgres("what nodes note", () => {
  test("a node is shown with its last heartbeat, until it stops, or for a day", async ({ fleet }) => {
    const { nodes } = fleet;
    await nodes.register(node1);
    await nodes.beat({ ...node1, held: 3 });
    const [row] = await nodes.list();
    expect(row).toMatchObject({ ...node1, held: 3, draining: false });
    await nodes.register({ ...node1, version: "1.2.4", role: "work" });
    expect(await nodes.list()).toMatchObject([{ version: "1.2.4", role: "work" }]);
    expect(Date.parse(row?.seen_at ?? "")).toBeGreaterThanOrEqual(Date.parse(row?.started_at ?? ""));
    await nodes.remove("node-1");
    expect(await nodes.list()).toEqual([]);
    await nodes.register({ ...node1, node: "lost" });
    await fleet.set("nodes", "seen_at = now() - interval '25 hours'");
    await nodes.register(node1);
    expect(await nodes.list()).toMatchObject([{ node: "node-1" }]);
  });

  test("times of receiving are one span while any receiver beats, another one after a gap, and forgotten after a month", async () => {
    const { receiving, set } = await openFleet();
    const earlier = (seconds: number) => {
      const time = `interval '${seconds} s'`;
      return set("receiving", `started_at = started_at - ${time}, seen_at = seen_at - ${time}`);
    };
    await receiving.beat();
    await earlier(50);
    await receiving.beat();
    expect(await receiving.spansSince(0)).toHaveLength(1);
    await earlier(61);
    await receiving.beat();
    const [first, second] = await receiving.spansSince(0);
    expect((first?.seenMs ?? 0) - (first?.startedMs ?? 0)).toBeGreaterThanOrEqual(49_900);
    expect((second?.startedMs ?? 0) - (first?.seenMs ?? 0)).toBeGreaterThanOrEqual(60_900);
    expect(await receiving.spansSince(second?.startedMs ?? 0)).toEqual([second]);
    await earlier(31 * 86_400);
    await receiving.beat();
    expect(await receiving.spansSince(0)).toHaveLength(1);
  });
});

const publishedSeqs = "SELECT seq FROM fintoro_mirror.changes WHERE company = 'acme' ORDER BY seq";

/** A change log that ends with an error. */
function* broken(afterSeq: number): Iterable<ChangeRow[]> {
  yield* changesUpTo(4_500)(afterSeq);
  throw new Error("the mirror cannot be read");
}

describeWithPostgres("a published snapshot", () => {
  test("of a first run with many changes is one transaction, too", async ({ fleet }) => {
    const owner = await fleet.owned("acme");
    await expect(fleet.publishUpTo(owner, 5_000, 0, {}, broken)).rejects.toThrow("cannot be read");
    expect(await fleet.postgres.query(publishedSeqs)).toEqual([]);
    await fleet.publishUpTo(owner, 5_000);
    expect(await fleet.postgres.query(publishedSeqs)).toHaveLength(5_000);
  });

  test("never goes back in the change log, keeps what it has not drained (I6), and leaves no delivery behind that it does not have, even where Postgres was set back", async () => {
    const fleet = await openFleet();
    const owner = await fleet.owned("acme");
    await fleet.inbox.add("acme", deliveries("e1", "e2"));
    await fleet.publishUpTo(owner, 3, 2);
    const back = fleet.publishUpTo(owner, 2, 2, {}, () => []);
    await expect(back).rejects.toMatchObject({ kind: "database", retryable: false });
    await fleet.publishUpTo(owner, 3, 1);
    expect(await fleet.inbox.heads(["acme"])).toEqual([{ company: "acme", seq: 2, drained: 1 }]);
    expect(await fleet.postgres.query(publishedSeqs)).toHaveLength(3);
    await fleet.publishUpTo(owner, 3, 40);
    await fleet.inbox.add("acme", deliveries("e3"));
    expect(await fleet.inbox.heads(["acme"])).toEqual([{ company: "acme", seq: 3, drained: 2 }]);
  });

  // Fault: fleet | the service gives texts with U+0000 and half of a surrogate pair | a company's name and a message in the facts of a snapshot | published, with U+FFFD in their place
  test("may have texts that Postgres cannot hold: U+FFFD stands in for what it lacks", async ({ fleet }) => {
    const facts = { identity: { name: "A\0c\ud800me" }, summary: { problem: "\\u0000 \0" } };
    const owner = await fleet.owned("acme");
    await fleet.publishUpTo(owner, 0, 0, { facts });
    expect((await fleet.snapshots.current("acme"))?.facts).toEqual({
      identity: { name: "A\uFFFDc\uFFFDme" },
      summary: { problem: "\\u0000 \uFFFD" },
    });
  });
});

/** Lets so many days pass for what was published. */
const age = ({ set }: Fleet, days: number) =>
  set("changes", `published_at = published_at - interval '${days} days'`);

describeWithPostgres("the change log in Postgres", () => {
  test("loses what was published seven days ago, and the next snapshot goes on without a hole", async () => {
    const fleet = await openFleet();
    const owner = await fleet.owned("acme");
    const left = async () =>
      (await fleet.postgres.query<{ seq: number }>(publishedSeqs)).map(({ seq }) => seq);
    await fleet.publishUpTo(owner, 4);
    await age(fleet, 5);
    await fleet.publishUpTo(owner, 6);
    expect(await fleet.snapshots.pruneChanges()).toBe(0);
    await age(fleet, 3);
    expect(await fleet.snapshots.pruneChanges()).toBe(4);
    expect(await left()).toEqual([5, 6]);
    await age(fleet, 9);
    expect(await fleet.snapshots.pruneChanges()).toBe(2);
    await fleet.publishUpTo(owner, 7);
    expect(await left()).toEqual([7]);
  });

  test("is pruned some rows at a time, by several nodes at once", async ({ fleet }) => {
    const owner = await fleet.owned("acme");
    await fleet.publishUpTo(owner, 12_000);
    await age(fleet, 8);
    const first = await fleet.atOnce(3, () => fleet.snapshots.pruneChanges());
    expect(Math.max(...first)).toBeLessThanOrEqual(5_000);
    let rest = 0;
    for (let pruned = 1; pruned > 0; rest += pruned) pruned = await fleet.snapshots.pruneChanges();
    expect(rest + first.reduce((sum, one) => sum + one, 0)).toBe(12_000);
  });

  test("and the inbox are pruned by an index, without reading what stays", async ({
    fleet: { postgres, planOf },
  }) => {
    await postgres.query(`
      INSERT INTO fintoro_mirror.inbox_heads (company, seq, drained) SELECT 'c' || n, 100, 100 FROM generate_series(1, 500) n;
      INSERT INTO fintoro_mirror.inbox (company, seq, event_id, body, received_at)
        SELECT 'c' || n % 500, n, n::text, '', now() - n * interval '1 minute' FROM generate_series(1, 10000) n;
      INSERT INTO fintoro_mirror.changes (company, log, seq, resource, record_id, op, at, cause, published_at)
        SELECT 'c' || n % 500, 'a1', n, 'orders', n, 'insert', now(), 'sweep', now() - n * interval '1 minute'
        FROM generate_series(1, 10000) n;
      ANALYZE`);
    for (const [prune, index] of [
      [pruneInbox, "inbox_received"],
      [pruneChanges, "changes_published"],
    ] as const) {
      // One row in a hundred is that old.
      const plan = await planOf(prune(9_900 * 60_000, 5_000));
      expect(plan).toContain(`Index Scan using ${index}`);
      expect(plan).not.toMatch(/Seq Scan on (?:inbox|changes)\b/);
    }
  });
});

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
