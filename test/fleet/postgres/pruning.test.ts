import { expect, test } from "vitest";
import type { Postgres } from "../../../src/fleet/postgres/connection.ts";
import { pruneInbox } from "../../../src/fleet/postgres/tables/inbox-table.ts";
import { pruneChanges } from "../../../src/fleet/postgres/tables/snapshots-table.ts";
import { atOnce, changesUpTo, openFleet, snapshotOf } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const left = "SELECT company, seq FROM fintoro_mirror.changes ORDER BY company, seq";

/** Lets so many days pass for what was published. */
function age({ postgres }: { readonly postgres: Postgres }, days: number) {
  return postgres.query(
    "UPDATE fintoro_mirror.changes SET published_at = published_at - $1::int * interval '1 day'",
    [days],
  );
}

async function planOf(postgres: Postgres, sql: string): Promise<string> {
  // Of the rows below, one in a hundred is that old.
  const text = sql.replace("$1", String(9_900 * 60_000)).replace("$2", "5000");
  const lines = await postgres.query<{ "QUERY PLAN": string }>(`EXPLAIN ${text}`);
  return lines.map((line) => line["QUERY PLAN"]).join("\n");
}

describeWithPostgres("the change log in Postgres", () => {
  test("loses what was published seven days ago, and the next snapshot goes on without a hole", async () => {
    const fleet = await openFleet();
    const owner = await fleet.owned("acme");
    await fleet.snapshots.publish(owner, snapshotOf(4), changesUpTo(4));
    await age(fleet, 5);
    await fleet.snapshots.publish(owner, snapshotOf(6), changesUpTo(6));
    expect(await fleet.snapshots.pruneChanges()).toBe(0);
    await age(fleet, 3);
    expect(await fleet.snapshots.pruneChanges()).toBe(4);
    expect(await fleet.postgres.query(left)).toEqual([5, 6].map((seq) => ({ company: "acme", seq })));
    await age(fleet, 9);
    expect(await fleet.snapshots.pruneChanges()).toBe(2);
    await fleet.snapshots.publish(owner, snapshotOf(7), changesUpTo(7));
    expect(await fleet.postgres.query(left)).toEqual([{ company: "acme", seq: 7 }]);
  });

  test("is pruned some rows at a time, by several nodes at once", async () => {
    const fleet = await openFleet();
    const owner = await fleet.owned("acme");
    await fleet.snapshots.publish(owner, snapshotOf(12_000), changesUpTo(12_000));
    await age(fleet, 8);
    const first = await atOnce(fleet, 3, () => fleet.snapshots.pruneChanges());
    expect(Math.max(...first)).toBeLessThanOrEqual(5_000);
    let rest = 0;
    for (let pruned = 1; pruned > 0; rest += pruned) pruned = await fleet.snapshots.pruneChanges();
    expect(rest + first.reduce((sum, one) => sum + one, 0)).toBe(12_000);
  });
});

describeWithPostgres("what is pruned", () => {
  test("is found by an index, without reading what stays", async () => {
    const { postgres } = await openFleet();
    await postgres.query(`
      INSERT INTO fintoro_mirror.inbox_heads (company, seq, drained) SELECT 'c' || n, 100, 100 FROM generate_series(1, 500) n;
      INSERT INTO fintoro_mirror.inbox (company, seq, event_id, body, received_at)
        SELECT 'c' || n % 500, n, n::text, '', now() - n * interval '1 minute' FROM generate_series(1, 10000) n;
      INSERT INTO fintoro_mirror.changes (company, log, seq, resource, record_id, op, at, cause, published_at)
        SELECT 'c' || n % 500, 'a1', n, 'orders', n, 'insert', now(), 'sweep', now() - n * interval '1 minute'
        FROM generate_series(1, 10000) n;
      ANALYZE`);
    const inbox = await planOf(postgres, pruneInbox);
    expect(inbox).toContain("Index Scan using inbox_received");
    const changes = await planOf(postgres, pruneChanges);
    expect(changes).toContain("Index Scan using changes_published");
    for (const plan of [inbox, changes]) expect(plan).not.toMatch(/Seq Scan on (?:inbox|changes)\b/);
  });
});
