import { expect } from "vitest";
import { MirrorError } from "../../../src/base/errors.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { openFleet, deliveries, test, type Fleet } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

/** Reads what follows its position until `isOver`, and gives the numbers in the order in which it saw them. */
async function follow({ inbox }: Fleet, company: string, isOver: () => boolean): Promise<number[]> {
  const seen: number[] = [];
  for (;;) {
    const last = isOver();
    for (const { seq } of await inbox.read(company, seen.at(-1) ?? 0, 50)) seen.push(seq);
    if (last) return seen;
  }
}

const idsOf = (rows: readonly { readonly eventId: string }[]) => rows.map(({ eventId }) => eventId);

describeWithPostgres("the fleet's inbox", () => {
  // Fault: fleet | event ids that Postgres' text cannot hold: U+0000, half of a surrogate pair | deliveries of one group | each is kept under its own id (I12), a copy is known (I7), and the others of the group are stored
  test("I7 I12 keeps each delivery once, byte for byte and in its order, also under an id that Postgres' text cannot hold", async () => {
    const { inbox } = await openFleet();
    // Longer than what an index holds, and than a page.
    const random = seededRandom(2);
    const longId = Array.from({ length: 6_000 }, () => Math.floor(random.next() * 36).toString(36)).join("");
    const ids = ["a", "a\0", "\0", "\uFFFD", "\ud800", "\udc00", '"a\\u0000"', '"', "žltý \u{1F40E}", longId];
    const all = ids.map((eventId, at) => ({ eventId, body: Buffer.from([0, 255, 10, 92, at]) }));
    expect(await inbox.add("acme", [...all, ...all])).toEqual(new Set(ids));
    expect(await inbox.add("acme", all)).toEqual(new Set());
    expect(await inbox.read("acme", 0, 20)).toMatchObject(all.map((one, at) => ({ seq: at + 1, ...one })));
    for (const id of ids) expect(await inbox.has("acme", id), id).toBe(true);
    expect(await inbox.has("acme", "b\0")).toBe(false);
  });

  // Fault: webhook | copies of deliveries reach several receivers at the same time | eight writers of one inbox | one row each, numbers without holes (I7)
  test("I7 numbers have no holes and are never seen out of order: eight receivers, rollbacks, duplicates", async () => {
    const fleet = await openFleet();
    const random = seededRandom(1);
    const acknowledged = new Set<string>();
    let over = false;
    const reader = follow(fleet, "acme", () => over);
    await fleet.atOnce(8, async (receiver) => {
      for (let n = 0; n < 25; n++) {
        const own = `r${receiver}-${n}`;
        const ids = random.next() < 0.3 ? [own, `shared-${n}`] : [own];
        const fails = random.next() < 0.2;
        const stored = fleet.inbox.add("acme", deliveries(...ids), async () => {
          if (fails) throw new MirrorError("unavailable", "rolled back");
        });
        if (fails) await expect(stored).rejects.toThrow("rolled back");
        else await stored.then(() => ids.forEach((id) => acknowledged.add(id)));
      }
    });
    over = true;
    const seen = await reader;
    const rows = await fleet.inbox.read("acme", 0, 1_000);
    expect(seen).toEqual(seen.map((_, i) => i + 1));
    expect(rows.map(({ seq }) => seq)).toEqual(seen);
    expect(idsOf(rows).toSorted()).toEqual([...acknowledged].toSorted());
    expect(await fleet.inbox.heads(["acme"])).toEqual([{ company: "acme", seq: seen.length, drained: 0 }]);
  });

  test("a receiver that has not committed holds up its company, so that no reader passes it and a copy is known; no other one", async () => {
    const fleet = await openFleet();
    const { inbox } = fleet;
    const paused = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    // Its head is there: who creates it waits in any case.
    await inbox.add("acme", deliveries("e0"));
    const first = inbox.add("acme", deliveries("e1"), () => {
      locked.resolve();
      return paused.promise;
    });
    await locked.promise;
    const second = inbox.add("acme", deliveries("e1", "e2"));
    await fleet.lockWait();
    await inbox.add("other", deliveries("e3"));
    expect(await inbox.read("acme", 1, 10)).toEqual([]);
    paused.resolve();
    await first;
    expect(await second).toEqual(new Set(["e2"]));
    expect(idsOf(await inbox.read("acme", 1, 10))).toEqual(["e1", "e2"]);
  });

  test("a read gives no more than its limit, and few large bodies", async ({ fleet: { inbox } }) => {
    await inbox.add("small", deliveries("e1", "e2", "e3"));
    const large = ["e1", "e2", "e3", "e4"].map((eventId) => ({ eventId, body: Buffer.alloc(3e6) }));
    await inbox.add("large", large);
    expect(idsOf(await inbox.read("small", 1, 1))).toEqual(["e2"]);
    expect(idsOf(await inbox.read("large", 0, 100))).toEqual(["e1", "e2", "e3"]);
  });

  test("a delivery after others that wait writes no index", async ({ fleet }) => {
    await fleet.inbox.add("acme", deliveries("e0"));
    const written = await fleet.indexWrites("inbox_heads", async ({ inbox }) => {
      for (let n = 1; n <= 30; n++) await inbox.add("acme", deliveries(`e${n}`));
    });
    expect(written).toEqual({ updates: 30, indexed: 0 });
  });

  test("only old deliveries that are in the published snapshot are deleted", async ({ fleet }) => {
    const owner = await fleet.owned("acme");
    await fleet.inbox.add("acme", deliveries("e1", "e2", "e3"));
    await fleet.publishUpTo(owner, 1, 2);
    expect(await fleet.inbox.prune()).toBe(0);
    await fleet.set("inbox", "received_at = now() - interval '8 days'");
    expect(await fleet.inbox.prune()).toBe(2);
    expect(await fleet.inbox.prune()).toBe(0);
    await fleet.inbox.add("acme", deliveries("e4"));
    expect(await fleet.inbox.read("acme", 0, 10)).toMatchObject([{ seq: 3 }, { seq: 4 }]);
  });
});
