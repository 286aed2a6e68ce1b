import { expect } from "vitest";
import { judgeLosses, lossesInARow, takeoverDelayMs } from "../../../src/fleet/postgres/tables/losses.ts";
import { findWaitingCompanies } from "../../../src/fleet/postgres/tables/owners-table.ts";
import { readFleetStatus } from "../../../src/fleet/status/read-fleet-status.ts";
import { openFleet, ttlMs, test, type Fleet } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const minute = 60_000;

test("losses in a row grow with each death of a node, not where its process lived on, and begin again after six hours", () => {
  expect(lossesInARow({ before: 2, heldMs: 5_000, survived: true })).toBe(2);
  expect(lossesInARow({ before: 0, heldMs: 5_000, survived: false })).toBe(1);
  expect(lossesInARow({ before: 4, heldMs: 350 * minute, survived: false })).toBe(5);
  expect(lossesInARow({ before: 4, heldMs: 361 * minute, survived: false })).toBe(1);
});

test("the takeover of a lost company is put off and spread from the third death in a row on, twice as long after each, for 45 minutes at most", () => {
  expect(takeoverDelayMs(3, 10, 1)).toBe(3 * takeoverDelayMs(3, 10, 0));
  const delays = [1, 2, 3, 4, 5, 20].map((losses) => takeoverDelayMs(losses, 1, 0.5));
  expect(delays).toEqual([0, 0, minute, 2 * minute, 4 * minute, 30 * minute]);
  expect(takeoverDelayMs(99, 1, 1)).toBe(45 * minute);
});

/** Its node does not renew any more. */
const lose = ({ set }: Fleet, company: string) =>
  set("owners", "expires_at = now() - interval '1 second'", `company = '${company}'`);

async function die(fleet: Fleet, company: string, times: number): Promise<void> {
  await fleet.add(company);
  for (let n = 0; n < times; n++) {
    expect(await fleet.owners.claim(company, `node-${n}`, ttlMs)).toHaveProperty("epoch");
    await lose(fleet, company);
  }
}

const waiting = ({ postgres }: Fleet) => findWaitingCompanies(postgres, 9);
const problemsOf = async ({ postgres }: Fleet) =>
  (await readFleetStatus(postgres, null)).companies["acme"]?.problems;

describeWithPostgres("a company whose nodes die one after another", () => {
  test("is taken over at once twice; then nobody can until its delay is over or it is added again, and status names it", async () => {
    const fleet = await openFleet();
    await die(fleet, "acme", 3);
    const claim = () => fleet.owners.claim("acme", "node-9", ttlMs);
    expect(await claim()).toEqual({ refused: "set_aside" });
    expect(await waiting(fleet)).toEqual([{ company: "acme", reason: "suspect" }]);
    const judged = await judgeLosses(fleet.postgres, () => 0.5);
    expect(judged).toMatchObject([{ company: "acme", node: "node-2", losses: 3, delayMs: minute }]);
    expect(await judgeLosses(fleet.postgres, () => 0)).toEqual([]);
    expect(await claim()).toEqual({ refused: "set_aside" });
    expect(await waiting(fleet)).toEqual([]);
    const message = expect.stringMatching(
      /^the last 3 nodes that held it died, and nobody takes it for (1m 00s|\d+s): look at how node-2 ended/,
    ) as string;
    expect(await problemsOf(fleet)).toMatchObject([{ kind: "nodes_died", severity: "difference", message }]);
    await fleet.set("owners", "claimable_at = now()");
    const left = [{ company: "acme", reason: "left" }];
    expect(await waiting(fleet)).toEqual(left);
    expect(await claim()).toMatchObject({ epoch: 4 });
    await lose(fleet, "acme");
    expect(await judgeLosses(fleet.postgres, () => 1)).toHaveLength(1);
    // Whoever adds it again has it taken at once.
    await fleet.add("acme");
    expect(await waiting(fleet)).toEqual(left);
    expect(await claim()).toMatchObject({ epoch: 5 });
  });

  test("is like any other again once a node has released it, or held it for six hours", async ({ fleet }) => {
    await die(fleet, "acme", 3);
    await fleet.set("owners", "claimable_at = now()");
    expect(await fleet.owners.claim("acme", "node-9", ttlMs)).toMatchObject({ epoch: 4 });
    expect(await problemsOf(fleet)).toMatchObject([{ kind: "nodes_died" }]);
    await fleet.set("owners", "claimed_at = now() - interval '361 minutes'");
    expect(await problemsOf(fleet)).toEqual([]);
    await fleet.owners.release({ company: "acme", epoch: 4, node: "node-9" });
    await die(fleet, "acme", 2);
    expect(await fleet.owners.claim("acme", "node-9", ttlMs)).toMatchObject({ epoch: 7 });
  });

  test("is not blamed where its nodes lost it and lived", async ({ fleet }) => {
    const facts = { node: "node-0", version: "1", role: "all", held: 1, capacity: 9 };
    await fleet.nodes.register(facts);
    for (let n = 0; n < 5; n++) {
      await die(fleet, "acme", 1);
      await fleet.nodes.beat(facts);
    }
    await die(fleet, "acme", 1);
    // The same name, another process.
    await fleet.nodes.register(facts);
    expect(await fleet.owners.claim("acme", "node-0", ttlMs)).toMatchObject({ epoch: 7 });
    const [owner] = await fleet.postgres.query("SELECT losses FROM fintoro_mirror.owners");
    expect(owner).toEqual({ losses: 1 });
  });

  test("is set aside without those that its last node loses for the first time", async ({ fleet }) => {
    await die(fleet, "acme", 3);
    for (let n = 0; n < 20; n++) await die(fleet, `c${n}`, 1);
    await fleet.set("owners", "node = 'node-2'");
    const judged = await judgeLosses(fleet.postgres, () => 0.5);
    expect(judged).toMatchObject([{ company: "acme", delayMs: minute }]);
    expect(await fleet.owners.claim("c7", "node-9", ttlMs)).toMatchObject({ epoch: 2 });
  });

  test("is blamed before those that its node lost after fewer deaths", async ({ fleet }) => {
    for (const company of ["acme", ...Array.from({ length: 12 }, (_, n) => `c${n}`)])
      await die(fleet, company, 1);
    await fleet.set("owners", "losses = CASE company WHEN 'acme' THEN 3 ELSE 2 END");
    const judged = await judgeLosses(fleet.postgres, () => 0.5);
    const delayOf = (wanted: string) => judged.find(({ company }) => company === wanted)?.delayMs;
    // Twice as long after the fourth death; the others are only spread.
    expect([delayOf("acme"), delayOf("c7")]).toEqual([2 * minute, minute]);
  });

  test("waits two minutes at most where its host dies with more than ten companies", async ({ fleet }) => {
    for (let n = 0; n < 11; n++) await die(fleet, `c${n}`, 1);
    await fleet.set("owners", "losses = 8");
    const judged = await judgeLosses(fleet.postgres, () => 1);
    expect(judged).toHaveLength(11);
    expect(new Set(judged.map(({ delayMs }) => delayMs))).toEqual(new Set([2 * minute]));
  });

  test("that no node can hold is left alone, each time for twice as long, until one can or it is added again", async () => {
    const fleet = await openFleet();
    const pauseOf = async () => {
      const [row] = await fleet.postgres.query<{ ms: number }>(
        `SELECT (extract(epoch FROM claimable_at - failed_at) * 1000)::int AS ms FROM fintoro_mirror.owners`,
      );
      return row?.ms;
    };
    const fail = async () =>
      fleet.owners.release(await fleet.owned("acme"), 0, { why: "no room", pauseMs: 60_000 });
    const left = [{ company: "acme", reason: "left" }];
    for (const ms of [60_000, 120_000, 240_000]) {
      await fail();
      expect(await pauseOf()).toBe(ms);
      expect(await fleet.owners.claim("acme", "node-2", ttlMs)).toEqual({ refused: "set_aside" });
      expect(await waiting(fleet)).toEqual([]);
      await fleet.set("owners", "claimable_at = now()");
      expect(await waiting(fleet)).toEqual(left);
    }
    await fleet.owners.release(await fleet.owned("acme"));
    expect(await waiting(fleet)).toEqual([]);
    await fail();
    expect(await pauseOf()).toBe(60_000);
    await fleet.add("acme");
    expect(await waiting(fleet)).toEqual(left);
  });
});
