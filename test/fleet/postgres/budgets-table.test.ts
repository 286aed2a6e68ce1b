import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { atOnce, openFleet, type Fleet } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const block = { count: 10, spentMs: 300, continues: true };
const granted = { granted: 10, waitMs: 0 };

function isWait({ granted: count, waitMs }: { readonly granted: number; readonly waitMs: number }): boolean {
  return count === 0 && waitMs > 0 && waitMs <= block.spentMs;
}

async function takenPermits({ postgres }: Fleet): Promise<unknown[]> {
  return postgres.query("SELECT account, permits FROM fintoro_mirror.budgets ORDER BY account");
}

describeWithPostgres("permits of a company", () => {
  test("are given to its owner without a wait, again and again", async () => {
    const fleet = await openFleet();
    const owner = await fleet.owned("acme");
    expect(await fleet.budgets.take(owner, { ...block, continues: false })).toEqual(granted);
    expect(await fleet.budgets.take(owner, { ...block, count: 3 })).toEqual({ granted: 3, waitMs: 0 });
    expect(await takenPermits(fleet)).toEqual([{ account: "company acme", permits: 13 }]);
  });

  test("are given to another node when the last ones can count no more: the window is taken as spent (I8)", async () => {
    const fleet = await openFleet();
    const first = await fleet.owned("acme", "node-1");
    await fleet.budgets.take(first, block);
    await fleet.owners.release(first);
    const second = await fleet.owned("acme", "node-2");
    const refused = await fleet.budgets.take(second, block);
    expect(isWait(refused)).toBe(true);
    await pause(refused.waitMs);
    expect(await fleet.budgets.take(second, block)).toEqual(granted);
  });

  test("of a node that owns the company again: at once while it knows what it sent, otherwise after the wait", async () => {
    const fleet = await openFleet();
    const first = await fleet.owned("acme", "node-1");
    await fleet.budgets.take(first, block);
    await fleet.owners.release(first);
    const again = await fleet.owned("acme", "node-1");
    expect(isWait(await fleet.budgets.take(again, { ...block, continues: false }))).toBe(true);
    expect(await fleet.budgets.take(again, { ...block, continues: true })).toEqual(granted);
  });

  test("are those of its account: another company of it waits, on the same node too", async () => {
    const fleet = await openFleet();
    for (const company of ["acme", "branch"]) {
      const owner = await fleet.owned(company);
      await fleet.companies.setAccount(owner, "account-1");
      await fleet.owners.release(owner);
    }
    const acme = await fleet.owned("acme", "node-1");
    await fleet.budgets.take(acme, block);
    await fleet.owners.release(acme);
    const branch = await fleet.owned("branch", "node-1");
    expect(isWait(await fleet.budgets.take(branch, block))).toBe(true);
    expect(await takenPermits(fleet)).toEqual([{ account: "account account-1", permits: 10 }]);
  });

  test("that were taken before its account was known count for the account", async () => {
    const fleet = await openFleet();
    const acme = await fleet.owned("acme", "node-1");
    await fleet.budgets.take(acme, block);
    await fleet.companies.setAccount(acme, "account-1");
    await fleet.owners.release(acme);
    expect(isWait(await fleet.budgets.take(await fleet.owned("acme", "node-2"), block))).toBe(true);
  });

  test("go on without a wait when its owner learns the account", async () => {
    const fleet = await openFleet();
    const acme = await fleet.owned("acme");
    await fleet.budgets.take(acme, block);
    await fleet.companies.setAccount(acme, "account-1");
    expect(await fleet.budgets.take(acme, { ...block, continues: false })).toEqual(granted);
  });

  test("of another account are other permits", async () => {
    const fleet = await openFleet();
    await fleet.budgets.take(await fleet.owned("acme", "node-1"), block);
    expect(await fleet.budgets.take(await fleet.owned("other", "node-2"), block)).toEqual(granted);
  });

  test("taken at once by the owner before and the one of now: only one gets them", async () => {
    const fleet = await openFleet();
    const before = await fleet.owned("acme", "node-1");
    await fleet.expire("acme");
    const now = await fleet.owned("acme", "node-2");
    const taken = await atOnce(fleet, 8, (i) =>
      fleet.budgets.take(i % 2 ? before : now, block).catch(() => "refused"),
    );
    expect(taken.map((one) => (one === "refused" ? one : "granted"))).toEqual(
      Array.from({ length: 8 }, (_, i) => (i % 2 ? "refused" : "granted")),
    );
    expect(await takenPermits(fleet)).toEqual([{ account: "company acme", permits: 40 }]);
  });

  test("write no index, however often they are taken", async () => {
    const fleet = await openFleet();
    const owner = await fleet.owned("acme");
    await fleet.budgets.take(owner, block);
    const alone = await fleet.single();
    for (let n = 0; n < 30; n++) await alone.budgets.take(owner, block);
    expect(await alone.updatesThatWroteIndexes("budgets")).toEqual({ updates: 30, indexed: 0 });
  });
});
