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
