import { expect, test } from "vitest";
import type { ChangeRow } from "../../../src/fleet/postgres/tables/snapshots-table.ts";
import { changesUpTo, deliveries, openFleet, snapshotOf } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const publishedSeqs = "SELECT seq FROM fintoro_mirror.changes WHERE company = 'acme' ORDER BY seq";

/** A change log that ends with an error. */
function* broken(afterSeq: number): Iterable<ChangeRow[]> {
  yield* changesUpTo(4_500)(afterSeq);
  throw new Error("the mirror cannot be read");
}

describeWithPostgres("a published snapshot", () => {
  test("moves the pointer, the inbox position and the change log together", async () => {
    const fleet = await openFleet();
    const owner = await fleet.owned("acme", "node-1");
    await fleet.inbox.add("acme", deliveries("e1", "e2", "e3"));
    const facts = { rows: 12, state: "complete" };
    await fleet.snapshots.publish(owner, { ...snapshotOf(4, 2), facts }, changesUpTo(4));
    expect(await fleet.snapshots.current("acme")).toEqual({
      ...snapshotOf(4, 2),
      company: "acme",
      epoch: 1,
      node: "node-1",
      facts,
    });
    expect(await fleet.inbox.heads(["acme"])).toEqual([{ company: "acme", seq: 3, drained: 2 }]);
    expect(await fleet.postgres.query(publishedSeqs)).toEqual([1, 2, 3, 4].map((seq) => ({ seq })));
  });

  test("appends only changes after the published ones, whoever published them, and keeps what a change says", async () => {
    const fleet = await openFleet();
    const first = await fleet.owned("acme", "node-1");
    await fleet.snapshots.publish(first, snapshotOf(2), changesUpTo(2));
    await fleet.owners.release(first);
    const second = await fleet.owned("acme", "node-2");
    const asked: number[] = [];
    await fleet.snapshots.publish(second, snapshotOf(3), (afterSeq) => {
      asked.push(afterSeq);
      const at = "2026-03-01T10:11:12.345Z";
      return [
        [{ log: "a1", seq: 3, resource: "clients", recordId: "77", op: "delete", at, cause: "confirm" }],
      ];
    });
    expect(asked).toEqual([2]);
    const [last] = await fleet.postgres.query("SELECT * FROM fintoro_mirror.changes WHERE seq = 3");
    expect(last).toEqual({
      company: "acme",
      log: "a1",
      published_at: expect.any(Date) as Date,
      seq: 3,
      resource: "clients",
      record_id: "77",
      op: "delete",
      at: new Date("2026-03-01T10:11:12.345Z"),
      cause: "confirm",
    });
    expect(await fleet.snapshots.current("acme")).toMatchObject({ epoch: 2, node: "node-2", seq: 3 });
  });

  test("of a first run with many changes is one transaction, too", async () => {
    const fleet = await openFleet();
    const owner = await fleet.owned("acme");
    await expect(fleet.snapshots.publish(owner, snapshotOf(5_000), broken)).rejects.toThrow("cannot be read");
    expect(await fleet.postgres.query(publishedSeqs)).toEqual([]);
    await fleet.snapshots.publish(owner, snapshotOf(5_000), changesUpTo(5_000));
    expect(await fleet.postgres.query(publishedSeqs)).toHaveLength(5_000);
  });

  test("never goes back in the change log, and keeps the deliveries that only an earlier one had (I6)", async () => {
    const fleet = await openFleet();
    const owner = await fleet.owned("acme");
    await fleet.inbox.add("acme", deliveries("e1", "e2"));
    await fleet.snapshots.publish(owner, snapshotOf(3, 2), changesUpTo(3));
    const back = fleet.snapshots.publish(owner, snapshotOf(2, 2), () => []);
    await expect(back).rejects.toMatchObject({ kind: "database", retryable: false });
    await fleet.snapshots.publish(owner, snapshotOf(3, 1), changesUpTo(3));
    expect(await fleet.inbox.heads(["acme"])).toEqual([{ company: "acme", seq: 2, drained: 1 }]);
    expect(await fleet.postgres.query(publishedSeqs)).toHaveLength(3);
  });

  test("leaves no delivery behind that it does not have, even where Postgres was set back", async () => {
    const fleet = await openFleet();
    const owner = await fleet.owned("acme");
    await fleet.inbox.add("acme", deliveries("e1"));
    await fleet.snapshots.publish(owner, snapshotOf(1, 40), changesUpTo(1));
    await fleet.inbox.add("acme", deliveries("e2"));
    expect(await fleet.inbox.heads(["acme"])).toEqual([{ company: "acme", seq: 2, drained: 1 }]);
  });
});

describeWithPostgres("a text that Postgres cannot hold", () => {
  // Fault: fleet | the service gives texts with U+0000 and half of a surrogate pair | a company's name and a message in the facts of a snapshot | published, with U+FFFD in their place
  test("keeps no snapshot from being published: U+FFFD stands in for what it lacks", async () => {
    const fleet = await openFleet();
    const facts = { identity: { name: "A\0c\ud800me" }, summary: { problem: "\\u0000 \0" } };
    const owner = await fleet.owned("acme");
    await fleet.snapshots.publish(owner, { ...owner, ...snapshotOf(0), facts }, changesUpTo(0));
    expect((await fleet.snapshots.current("acme"))?.facts).toEqual({
      identity: { name: "A\uFFFDc\uFFFDme" },
      summary: { problem: "\\u0000 \uFFFD" },
    });
  });
});
