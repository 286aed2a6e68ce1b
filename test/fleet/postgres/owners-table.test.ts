import { expect } from "vitest";
import { assertOwner, OwnersTable } from "../../../src/fleet/postgres/tables/owners-table.ts";
import { deliveries, openFleet, pausingBehind, ttlMs, test, type Fleet } from "../../support/fleet/fleet.ts";
import { rejectionOf } from "../../support/errors.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

describeWithPostgres("a claim", () => {
  test.for(["never owned", "expired", "released"])(
    "eight at once, two of each node, %s: one is made, which none replaces",
    async (before, { fleet }) => {
      await fleet.add("acme");
      const first = before === "never owned" ? null : await fleet.owned("acme", "node-0");
      if (before === "expired") await fleet.expire("acme");
      if (before === "released" && first) await fleet.owners.release(first);
      const claims = await fleet.atOnce(8, (i) => fleet.owners.claim("acme", `claimer-${i % 4}`, ttlMs));
      const [owner] = await fleet.owners.ownersOf(["acme"]);
      expect(owner).toMatchObject({ epoch: first ? 2 : 1, live: true });
      const owned = Array<string>(7).fill("owned");
      expect(claims.flatMap((claim) => ("epoch" in claim ? [] : claim.refused))).toEqual(owned);
    },
  );

  test("of a company that left the fleet, or never was in it, is refused", async ({ fleet }) => {
    await fleet.add("acme");
    await fleet.companies.remove("acme");
    for (const company of ["acme", "other"])
      expect(await fleet.owners.claim(company, "node-1", ttlMs)).toEqual({ refused: "removed" });
    expect(await fleet.owners.ownersOf(["acme", "other"])).toEqual([]);
  });

  test("waits for what the last owner is publishing, and a renewal does not", async ({ fleet }) => {
    const owner = await fleet.owned("acme", "node-1");
    const order: string[] = [];
    let claim: Promise<unknown> = Promise.resolve();
    await fleet.postgres.transaction(async ({ db }) => {
      await assertOwner(db, owner);
      expect(await fleet.owners.renew("node-1", [owner], ttlMs)).toEqual(["acme"]);
      await fleet.expire("acme");
      claim = fleet.owners.claim("acme", "node-2", ttlMs).then(() => order.push("claimed"));
      await fleet.lockWait();
      order.push("published");
    });
    await claim;
    expect(order).toEqual(["published", "claimed"]);
  });
});

describeWithPostgres("a renewal", () => {
  test("gives what this node still owns in this epoch, and only that lives on", async ({ fleet }) => {
    const kept = await fleet.owned("kept");
    const expired = await fleet.owned("expired");
    const lost = await fleet.owned("lost");
    const released = await fleet.owned("released");
    await fleet.expire("expired");
    await fleet.expire("lost");
    await fleet.owned("lost", "node-2");
    await fleet.owners.release(released);
    const later = { ...kept, epoch: kept.epoch + 1 };
    expect(await fleet.owners.renew("node-1", [later], ttlMs)).toEqual([]);
    expect(await fleet.owners.renew("node-2", [kept], ttlMs)).toEqual([]);
    expect(await fleet.owners.renew("node-1", [kept, expired, lost, released], 2 * ttlMs)).toEqual(["kept"]);
    const rows = await fleet.owners.ownersOf(["kept", "expired", "lost", "released"]);
    expect(rows.map(({ company, node, live }) => [company, node, live])).toEqual([
      ["expired", "node-1", false],
      ["kept", "node-1", true],
      ["lost", "node-2", true],
      ["released", null, false],
    ]);
    const [longer] = await fleet.postgres.query(
      `SELECT extract(epoch FROM k.expires_at - l.expires_at) > 30 AS "isRenewed" FROM fintoro_mirror.owners k,
        fintoro_mirror.owners l WHERE k.company = 'kept' AND l.company = 'lost'`,
    );
    expect(longer).toEqual({ isRenewed: true });
  });

  test("and a claim at the moment of expiry never succeed both", async ({ fleet }) => {
    let owner = await fleet.owned("acme", "node-0");
    const winners = { renewal: 0, claim: 0 };
    // Later after each claim and sooner after each renewal, it meets the moment in between on every machine.
    let leftMs = 1;
    for (let round = 1; round <= 75; round++) {
      await fleet.set("owners", `expires_at = clock_timestamp() + ${leftMs} * interval '1 ms'`);
      const [renewed, claim] = await Promise.all([
        fleet.owners.renew(owner.node, [owner], ttlMs),
        fleet.owners.claim("acme", `node-${round}`, ttlMs),
      ]);
      const claimed = "epoch" in claim;
      expect(renewed.length + Number(claimed)).toBeLessThan(2);
      if (claimed) owner = { company: "acme", epoch: claim.epoch, node: `node-${round}` };
      leftMs *= renewed.length > 0 ? 0.8 : 1.25;
      winners.renewal += renewed.length;
      winners.claim += Number(claimed);
    }
    expect(winners.renewal).toBeGreaterThan(0);
    expect(winners.claim).toBeGreaterThan(0);
  });

  test("writes no index, however often it comes", async ({ fleet }) => {
    const owner = await fleet.owned("acme");
    const written = await fleet.indexWrites("owners", async ({ owners }) => {
      for (let i = 0; i < 50; i++) await owners.renew("node-1", [owner], ttlMs);
    });
    expect(written).toEqual({ updates: 50, indexed: 0 });
  });
});

describeWithPostgres("an owner whose ownership ended", () => {
  // Fault: fleet | a node publishes reports after another one has taken over its company | what an owner writes whose ownership ended | nothing is begun, so no file is stored, and no row changes
  test.for(["it expired", "another node took over", "it was released"])(
    "%s: can publish nothing, and release nothing",
    async (how, { fleet }) => {
      const owner = await fleet.owned("acme", "node-1");
      await fleet.inbox.add("acme", deliveries("e1"));
      if (how === "it was released") await fleet.owners.release(owner);
      else await fleet.expire("acme");
      if (how === "another node took over") await fleet.owned("acme", "node-2");
      expect(await fleet.owners.renew("node-1", [owner], ttlMs)).toEqual([]);
      for (const write of [
        () => fleet.publishUpTo(owner, 5, 1),
        () => fleet.reports.begin(owner, 1, ["a"]),
        () => fleet.reports.publish(owner, { seq: 5, files: [], answers: null, old: [] }),
        () => fleet.companies.setAccount(owner, "a1"),
      ]) {
        const { kind, message } = await rejectionOf(write());
        expect([kind, message]).toEqual(["locked", expect.stringContaining("another owner")]);
      }
      expect(await fleet.snapshots.current("acme")).toBeNull();
      expect(await fleet.reports.current("acme")).toBeNull();
      expect(await fleet.inbox.heads(["acme"])).toEqual([{ company: "acme", seq: 1, drained: 0 }]);
      expect(await fleet.postgres.query("SELECT FROM fintoro_mirror.changes")).toEqual([]);
      expect((await fleet.companies.find("acme"))?.account).toBeNull();
      const before = await fleet.owners.ownersOf(["acme"]);
      expect(await fleet.owners.release(owner)).toBe(how === "it expired");
      if (how !== "it expired") expect(await fleet.owners.ownersOf(["acme"])).toEqual(before);
    },
  );
});

/** Of a claim by another node; the clock of Postgres may have moved a little meanwhile. */
async function quietAt(fleet: Fleet, company: string): Promise<number | null> {
  const claim = await fleet.owners.claim(company, "node-2", ttlMs);
  if (!("epoch" in claim)) throw new Error(claim.refused);
  return claim.quietMs === null ? null : Math.round(claim.quietMs / 10_000) * 10_000;
}

describeWithPostgres("a claim says for how long nobody can have sent requests (I8)", () => {
  test("of one that was never owned, or released; of a lost one since it expired, whenever it sent its last request", async () => {
    const fleet = await openFleet();
    await fleet.add("new");
    await fleet.owners.release(await fleet.owned("quiet"), 40_000);
    await fleet.owners.release(await fleet.owned("busy"), 0);
    await fleet.owned("lost");
    await fleet.set("owners", "expires_at = now() - interval '30 s'", "company = 'lost'");
    const quiet = [];
    for (const company of ["new", "quiet", "busy", "lost"]) quiet.push(await quietAt(fleet, company));
    expect(quiet).toEqual([null, 40_000, 0, 30_000]);
  });

  test("of an account: by any company of it, also where the owner learns the account later", async () => {
    const fleet = await openFleet();
    const branch = await fleet.owned("branch");
    await fleet.companies.setAccount(branch, "account-1");
    await fleet.owners.release(branch, 20_000);
    const acme = await fleet.owned("acme");
    const use = await fleet.companies.setAccount(acme, "account-1");
    expect([use.rival, Math.round((use.quietMs ?? 0) / 10_000)]).toEqual([null, 2]);
    await fleet.owners.release(acme, 3_600_000);
    expect(await quietAt(fleet, "acme")).toBe(20_000);
  });
});

async function liveOwners({ owners }: Fleet): Promise<string[]> {
  const rows = await owners.ownersOf(["acme", "branch"]);
  return rows.filter(({ live }) => live).map(({ company }) => company);
}

describeWithPostgres("two companies of one account", () => {
  test("are never owned at once, when claims of both meet", async ({ fleet }) => {
    for (const company of ["acme", "branch"]) {
      const owner = await fleet.owned(company);
      expect((await fleet.companies.setAccount(owner, "account-1")).rival).toBeNull();
      await fleet.owners.release(owner);
    }
    for (let round = 0; round < 8; round++) {
      // The first and the last are of one node.
      const claims = await fleet.atOnce(4, (i) =>
        fleet.owners.claim(i % 2 ? "acme" : "branch", `node-${i % 3}`, ttlMs),
      );
      expect(claims.filter((claim) => "epoch" in claim)).toHaveLength(1);
      expect(await liveOwners(fleet)).toHaveLength(1);
      for (const company of await liveOwners(fleet)) await fleet.expire(company);
    }
  });

  test("of which nobody knew it: of owners that learn it at once, one goes on and the other must release", async () => {
    const fleet = await openFleet();
    for (const account of ["one", "two", "three"]) {
      const [acme, branch] = [`acme-${account}`, `branch-${account}`];
      const owners = [await fleet.owned(acme, "node-1"), await fleet.owned(branch, "node-2")];
      const uses = await Promise.all(owners.map((owner) => fleet.companies.setAccount(owner, account)));
      const others = uses.map(({ rival }) => rival);
      expect(others).toEqual(others[0] === null ? [null, acme] : [branch, null]);
      // So that nobody takes it, and asks the service whose its token is, before the other one is released.
      const sentAway = others[0] === null ? branch : acme;
      expect((await fleet.companies.find(sentAway))?.account).toBe(account);
    }
  });

  test("a claim that has read its company's account keeps it from being learned", async ({ fleet }) => {
    const branch = await fleet.owned("branch", "node-1");
    await fleet.companies.setAccount(branch, "account-1");
    await fleet.owners.release(branch);
    const acme = await fleet.owned("acme", "node-1");
    const claiming = pausingBehind(fleet);
    const claim = new OwnersTable(claiming.postgres).claim("acme", "node-2", ttlMs);
    await claiming.paused;
    const learned = fleet.companies.setAccount(acme, "account-1").catch(() => "refused");
    await fleet.lockWait();
    await fleet.expire("acme");
    expect(await fleet.owners.claim("branch", "node-3", ttlMs)).toMatchObject({ epoch: 2 });
    claiming.resume();
    expect(await claim).toMatchObject({ epoch: 2 });
    expect(await learned).toBe("refused");
    expect((await fleet.companies.find("acme"))?.account).toBeNull();
  });
});
