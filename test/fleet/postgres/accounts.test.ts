import { expect } from "vitest";
import { OwnersTable } from "../../../src/fleet/postgres/tables/owners-table.ts";
import { test } from "../../support/fleet/fleet-test.ts";
import { atOnce, lockWait, openFleet, pausingBehind, ttlMs, type Fleet } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

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
      const claims = await atOnce(fleet, 4, (i) =>
        fleet.owners.claim(i % 2 ? "acme" : "branch", `node-${i % 3}`, ttlMs),
      );
      expect(claims.filter((claim) => "epoch" in claim)).toHaveLength(1);
      expect(await liveOwners(fleet)).toHaveLength(1);
      for (const company of await liveOwners(fleet)) await fleet.expire(company);
    }
  });

  test("of which nobody knew it: of owners that learn it at once, one goes on and the other must release", async () => {
    for (let round = 0; round < 3; round++) {
      const fleet = await openFleet();
      const owners = [await fleet.owned("acme", "node-1"), await fleet.owned("branch", "node-2")];
      const uses = await Promise.all(owners.map((owner) => fleet.companies.setAccount(owner, "account-1")));
      const others = uses.map(({ rival }) => rival);
      expect(others).toEqual(others[0] === null ? [null, "acme"] : ["branch", null]);
    }
  });

  test("are never owned at once, when one is claimed while the other learns it", async ({ fleet }) => {
    await fleet.add("acme", "branch");
    for (let round = 0; round < 8; round++) {
      await fleet.set("companies", "account = CASE name WHEN 'branch' THEN 'account-1' END");
      const owner = await fleet.owned("acme", "node-1");
      const [other, claim] = await Promise.all([
        fleet.companies.setAccount(owner, "account-1"),
        fleet.owners.claim("branch", "node-2", ttlMs),
      ]);
      // Whoever came first: either the account is noted and the claim refused, or the owner is sent away.
      if (other.rival === null) expect(claim).toEqual({ refused: "account" });
      else expect(claim).toHaveProperty("epoch");
      for (const company of await liveOwners(fleet)) await fleet.expire(company);
    }
  });

  test("a claim that has read its company's account keeps it from being learned", async ({ fleet }) => {
    const branch = await fleet.owned("branch", "node-1");
    await fleet.companies.setAccount(branch, "account-1");
    await fleet.owners.release(branch);
    const acme = await fleet.owned("acme", "node-1");
    const claiming = pausingBehind(fleet, 1);
    const claim = new OwnersTable(claiming.postgres).claim("acme", "node-2", ttlMs);
    await claiming.paused;
    const learned = fleet.companies.setAccount(acme, "account-1").catch(() => "refused");
    await lockWait(fleet);
    await fleet.expire("acme");
    expect(await fleet.owners.claim("branch", "node-3", ttlMs)).toMatchObject({ epoch: 2 });
    claiming.resume();
    expect(await claim).toMatchObject({ epoch: 2 });
    expect(await learned).toBe("refused");
    expect((await fleet.companies.find("acme"))?.account).toBeNull();
  });
});
