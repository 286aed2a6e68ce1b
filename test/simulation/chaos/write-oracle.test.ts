import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../../src/base/logger.ts";
import { openPostgres, type Postgres } from "../../../src/fleet/postgres/connection.ts";
import { OwnersTable } from "../../../src/fleet/postgres/tables/owners-table.ts";
import { SnapshotsTable } from "../../../src/fleet/postgres/tables/snapshots-table.ts";
import { changesUpTo, openFleet, snapshotOf, type Fleet } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { judgeWrites } from "./judge-writes.ts";
import { installWriteOracle, processUrl, readWrites } from "./write-oracle.ts";

const ttlMs = 60_000;
const owner = { company: "acme", epoch: 1, node: "a" };

/** A fleet with the oracle, whose company `acme` is owned by the node `a`. */
async function watchedFleet(): Promise<{
  fleet: Fleet;
  a: Postgres;
  b: Postgres;
  found: () => Promise<string>;
}> {
  const fleet = await openFleet();
  await fleet.add("acme");
  await installWriteOracle(fleet.postgres);
  const [a, b] = await Promise.all(["a", "b"].map((node) => connect(fleet.url, node)));
  if (!a || !b) throw new Error("broken promise: there are two");
  await new OwnersTable(a).claim("acme", "a", ttlMs);
  return { fleet, a, b, found: async () => judgeWrites(await readWrites(fleet.postgres)).join("\n") };
}

async function connect(url: string, node: string): Promise<Postgres> {
  const postgres = await openPostgres({ url: processUrl(url, `${node}.1`), node, log: silentLog });
  onTestFinished(() => postgres.close());
  return postgres;
}

describeWithPostgres("what processes write to Postgres", () => {
  test("is recorded with its process and its owner, and nothing is wrong with an owner's writes", async () => {
    const { fleet, a, b, found } = await watchedFleet();
    await new SnapshotsTable(a).publish(owner, snapshotOf(3), changesUpTo(3));
    await new OwnersTable(a).release(owner);
    await new OwnersTable(b).claim("acme", "b", ttlMs);
    const next = { company: "acme", epoch: 2, node: "b" };
    await new SnapshotsTable(b).publish(next, snapshotOf(5), changesUpTo(5));
    expect(await found()).toBe("");
    const writes = await readWrites(fleet.postgres);
    const changes = writes.filter(({ what }) => what === "changes");
    expect(changes.map(({ process, ownerEpoch }) => `${process} in ${ownerEpoch}`)).toEqual([
      ...Array.from({ length: 3 }, () => "a.1 in 1"),
      ...Array.from({ length: 2 }, () => "b.1 in 2"),
    ]);
    expect(new Set(writes.map(({ what }) => what))).toEqual(new Set(["owners", "changes", "snapshots"]));
  });

  // Each is what a node would write that does not ask whether it is the owner.
  test.each([
    [
      "a change log by a process that does not own the company",
      "INSERT INTO fintoro_mirror.changes VALUES ('acme', 'a1', 1, 'orders', '1', 'insert', now(), 'sweep')",
      "changes was written in epoch 1 of a.1",
    ],
    [
      "a renewal of another process's ownership",
      "UPDATE fintoro_mirror.owners SET expires_at = now() + interval '1 hour'",
      "epoch 1 of a.1 was written by another",
    ],
    [
      "a claim of a company that is owned",
      "UPDATE fintoro_mirror.owners SET epoch = 2, node = 'b'",
      "epoch 2 was claimed while epoch 1 lived",
    ],
    [
      "an inbox that is said to be drained",
      "INSERT INTO fintoro_mirror.inbox_heads (company, seq, drained) VALUES ('acme', 5, 5)",
      "inbox_heads was written in epoch 1 of a.1",
    ],
  ])("%s is found", async (_name, sql, text) => {
    const { b, found } = await watchedFleet();
    await b.query(sql);
    expect(await found()).toContain(text);
  });

  test("a pointer that is moved while another one claims the company is found, although its check came before", async () => {
    const { fleet, a, b, found } = await watchedFleet();
    await a.transaction(async (sql) => {
      await sql.query("SELECT FROM fintoro_mirror.owners WHERE company = 'acme' AND epoch = 1");
      await fleet.expire("acme");
      await new OwnersTable(b).claim("acme", "b", ttlMs);
      await sql.query(`INSERT INTO fintoro_mirror.snapshots
        VALUES ('acme', 1, 's1', 0, 0, 1, '', now(), 'a', '{}')`);
    });
    expect(await found()).toContain("snapshots of epoch 1 was written in epoch 2");
  });
});
