import { expect, onTestFinished } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { MirrorError } from "../../../src/base/errors.ts";
import type { InboxTable } from "../../../src/fleet/postgres/tables/inbox-table.ts";
import { drainInbox, followInbox, createInboxWatch } from "../../../src/fleet/assignment/drain.ts";
import { inboxPosition } from "../../../src/state/meta.ts";
import { openFleet, test as fleetTest, type Fleet } from "../../support/fleet/fleet.ts";
import { tempFolder } from "../../support/temporary-folder.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";
import { rows } from "../../support/mirror/store.ts";
import { stubLog } from "../../support/http/http-client.ts";
import { about, deliveryOf, openIngest, type OpenIngest } from "../../support/webhook/webhook.ts";

const test = fleetTest.extend("shop", () => openIngest());

async function receive(fleet: Fleet, company: string, ...bodies: (string | Buffer)[]): Promise<void> {
  const all = bodies.map((body) => ({ eventId: deliveryOf(body).eventId, body: Buffer.from(body) }));
  await fleet.inbox.add(company, all);
}

const events = (count: number) => Array.from({ length: count }, (_, i) => about(i));

/** `reads`: limits of each read; `turns`: those of the event loop that were waited for, one for each transaction. */
function drainOf({ mirror, ingest }: OpenIngest, inbox: Pick<InboxTable, "read">, company = "acme") {
  const reads: number[] = [];
  const log = stubLog();
  let turns = 0;
  const closing = new AbortController();
  const parts = {
    company,
    inbox: {
      read: (of: string, after: number, limit: number) => {
        reads.push(limit);
        return inbox.read(of, after, limit);
      },
    },
    mirror,
    ingest,
    turns: { next: () => Promise.resolve(void turns++) },
    clock: systemClock,
    log,
    closed: closing.signal,
  };
  const messages = () => log.lines.map(({ message }) => message);
  onTestFinished(() => closing.abort());
  return { parts, reads, turns: () => turns, messages, close: () => closing.abort() };
}

describeWithPostgres("a company's owner drains what receivers stored", () => {
  test("in its order and byte for byte, with the times at which it was received, up to the last, and goes on there where all of it was pruned", async () => {
    const [fleet, shop] = [await openFleet(), await openIngest()];
    const bytes = Buffer.from([0x1f, 0x8b, 0x08, 0x00, 0xff]);
    const bodies = [about(1), about(2), about(1, "people.deleted"), "<html>", bytes];
    await receive(fleet, "acme", ...bodies);
    await receive(fleet, "beta", about(9));
    await fleet.set("inbox", "received_at = to_timestamp(1000) + seq * interval '1 minute'");
    expect(await drainInbox(drainOf(shop, fleet.inbox).parts, null)).toBe(5);
    const stored = bodies.map((body, i) => ({ body, at: new Date(1_060_000 + i * 60_000).toISOString() }));
    expect(rows(shop.mirror, "SELECT body, received_at AS at FROM _inbox ORDER BY seq")).toEqual(stored);
    expect(inboxPosition(shop.mirror.meta)).toBe(5);
    await fleet.postgres.query("DELETE FROM fintoro_mirror.inbox");
    await receive(fleet, "acme", about(4));
    const drain = drainOf(shop, fleet.inbox);
    expect(await drainInbox(drain.parts, 6)).toBe(6);
    expect(drain.messages()).toEqual(["an event was stored"]);
  });

  // Fault: process | the owner ends between two transactions of a drain | an abort while the inbox is drained | the next drain goes on after the position; nothing is lost or doubled
  test("in bounded transactions, between which other work has its turn; who ends in between goes on at the position", async () => {
    const [fleet, shop] = [await openFleet(), await openIngest()];
    await receive(fleet, "acme", ...events(450));
    const drain = drainOf(shop, fleet.inbox);
    const twice = {
      next: () => (drain.turns() === 2 ? Promise.resolve(drain.close()) : drain.parts.turns.next()),
    };
    const position = await drainInbox({ ...drain.parts, turns: twice }, null);
    expect(position).toBeGreaterThan(200);
    expect(position).toBeLessThan(450);
    expect([inboxPosition(shop.mirror.meta), shop.count("_inbox")]).toEqual([position, position]);
    const rest = drainOf(shop, fleet.inbox);
    expect(await drainInbox(rest.parts, 450)).toBe(450);
    expect([rest.turns(), Math.max(...drain.reads, ...rest.reads)]).toEqual([1, 200]);
    const drained = rows(shop.mirror, "SELECT event_id FROM _inbox ORDER BY seq");
    const stored = await fleet.inbox.read("acme", 0, 1_000);
    expect(drained).toEqual(stored.map(({ eventId }) => ({ event_id: eventId })));
  });

  // Fault: disk | a transaction of a drain fails | a trigger in the mirror | neither its events nor its position; the next drain stores them
  test("I1 a transaction that fails leaves neither events nor a position", async ({ fleet, shop }) => {
    await receive(fleet, "acme", about(1), about(2));
    shop.mirror.db.exec(
      "CREATE TRIGGER full BEFORE INSERT ON _work WHEN NEW.target = 'id:2' BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    await expect(drainInbox(drainOf(shop, fleet.inbox).parts, null)).rejects.toThrow("no");
    expect([inboxPosition(shop.mirror.meta), shop.count("_inbox")]).toEqual([0, 0]);
    shop.mirror.db.exec("DROP TRIGGER full");
    expect(await drainInbox(drainOf(shop, fleet.inbox).parts, null)).toBe(2);
    expect(shop.count("_inbox")).toBe(2);
  });
});

// Fault: fleet | a delivery of the inbox cannot be stored, by a mistake of the program | a drain that fails with a TypeError, and with `locked` | one warning, and it is tried again beside the company's runs; `locked` ends it
test("what fails while the inbox is followed is tried again, and ends it only where the mirror is another's", async () => {
  const shop = await openIngest();
  const failures = [new TypeError("x is not a function"), new TypeError("again")];
  const rest = new MirrorError("locked", "the mirror is another's");
  const drain = drainOf(shop, { read: () => Promise.reject(failures.shift() ?? rest) });
  const clock = { ...systemClock, sleep: () => Promise.resolve() };
  const following = followInbox({ ...drain.parts, clock }, { moved: () => Promise.resolve(null) });
  await expect(following).rejects.toThrow("another's");
  expect(drain.reads).toHaveLength(3);
  expect(drain.messages()).toEqual(["the inbox cannot be drained now; it is tried again"]);
});

describeWithPostgres("a mirror that is not the newest loses and doubles nothing", () => {
  // Fault: process | a new owner begins with an older snapshot | a copy of the mirror, drained again | every delivery once (I7)
  test("I7 a new owner that begins with an older copy drains again what that lacks", async ({ fleet }) => {
    const [first, copy] = [`${tempFolder()}/acme.db`, `${tempFolder()}/acme.db`];
    const shop = await openIngest({ path: first });
    await receive(fleet, "acme", ...events(30));
    await drainInbox(drainOf(shop, fleet.inbox).parts, null);
    shop.mirror.db.exec(`VACUUM INTO '${copy}'`);
    await receive(fleet, "acme", ...events(25));
    await drainInbox(drainOf(shop, fleet.inbox).parts, null);
    shop.mirror.close();
    const next = await openIngest({ path: copy });
    expect(inboxPosition(next.mirror.meta)).toBe(30);
    await receive(fleet, "acme", about(99));
    const drain = drainOf(next, fleet.inbox);
    expect(await drainInbox(drain.parts, 56)).toBe(56);
    expect(next.count("_inbox")).toBe(56);
    expect(rows(next.mirror, "SELECT count(DISTINCT event_id) AS n FROM _inbox")).toEqual([{ n: 56 }]);
    expect(drain.messages()).not.toContainEqual(expect.stringContaining("is not the one"));
  });

  // Fault: fleet | Postgres is restored from a backup, so numbers of the inbox come twice | a fleet with a shorter and with another inbox | read from its beginning; nothing is lost
  test("an inbox that was restored or replaced is read from its beginning", async ({ fleet, shop }) => {
    const other = await openFleet();
    await receive(fleet, "acme", ...events(10));
    await drainInbox(drainOf(shop, fleet.inbox).parts, null);
    await receive(other, "acme", ...events(4));
    const shorter = drainOf(shop, other.inbox);
    expect(await drainInbox(shorter.parts, 4)).toBe(4);
    expect(shop.count("_inbox")).toBe(14);
    expect(shorter.messages()).toContainEqual(expect.stringContaining("read from its beginning"));
    const third = await openFleet();
    await receive(third, "acme", ...events(9));
    expect(await drainInbox(drainOf(shop, third.inbox).parts, 9)).toBe(9);
    expect(shop.count("_inbox")).toBe(23);
  });
});

describeWithPostgres("what is new is looked for in one query for all companies of a node", () => {
  test("and drained; a node that holds none asks nothing", async ({ fleet }) => {
    const asked: (readonly string[])[] = [];
    const watch = createInboxWatch({
      heads: (companies) => {
        asked.push(companies);
        return fleet.inbox.heads(companies);
      },
    });
    await watch.look();
    expect(asked).toEqual([]);
    const names = ["acme", "beta", "gamma"];
    const held = await Promise.all(
      names.map(async (name) => {
        const shop = await openIngest();
        return { name, shop, drain: drainOf(shop, fleet.inbox, name) };
      }),
    );
    const ended = held.map(({ drain }) => followInbox(drain.parts, watch));
    const areDrained = () => names.every((name) => watch.isDrained(name));
    const stored = () => held.map(({ shop }) => shop.count("_inbox"));
    await expect.poll(areDrained).toBe(true);
    await receive(fleet, "beta", about(1), about(2));
    expect(stored()).toEqual([0, 0, 0]);
    await watch.look();
    await expect.poll(stored).toEqual([0, 2, 0]);
    await expect.poll(areDrained).toBe(true);
    expect(asked.map((some) => some.toSorted())).toEqual([names]);
    for (const { drain } of held) drain.close();
    await Promise.all(ended);
    await watch.look();
    expect(asked).toHaveLength(1);
  });
});
