import { describe, expect, test } from "vitest";
import { seededRandom } from "../support/seeded-random.ts";
import { aCompany, type Company } from "../support/company/company.ts";
import { endOf, killedWhen, startSync, syncUntil, writeConfig } from "../support/crash/crash.ts";
import { differences } from "../support/truth/compare.ts";
import { count, look, expectEqual, expectReplayable, expectTombstonesTrue } from "../support/truth/equal.ts";
import { floorOf, spentOn, truthOf } from "../support/truth/truth.ts";

const concurrency = 6;

/** What was read again is no more than what was in flight at each kill. */
function expectFrugal(company: Company, kills: number): void {
  const floor = floorOf(truthOf(company.sandbox));
  const spent = spentOn(company.proxy.asked);
  const times = new Map<string, number>();
  for (const path of spent.details) times.set(path, (times.get(path) ?? 0) + 1);
  expect([...times].filter(([, seen]) => seen > 1 + kills)).toEqual([]);
  const least = floor.lists.length + floor.details.length + floor.children.length;
  expect(company.proxy.asked.length).toBeLessThanOrEqual(least + kills * (concurrency + 1));
}

async function finish(company: Company, args: readonly string[] = []): Promise<void> {
  const ended = await endOf(startSync(company, args));
  expect({
    code: ended.code,
    troubles: ended.report?.troubles,
    stderr: ended.code === 0 ? "" : ended.stderr,
  }).toEqual({
    code: 0,
    troubles: [],
    stderr: "",
  });
  expectReplayable(company);
  expectTombstonesTrue(company);
}

describe("a first sync that is killed again and again", () => {
  // Fault: process | kill -9 at varied moments, up to six times | a process of `sync` during a first run | the next run repeats what was in flight only, and ends equal to the service (I1, I7)
  test("I1 I7 goes on where it was, repeats only what was in flight, and ends equal to the service", async () => {
    const company = await aCompany();
    writeConfig(company);
    const random = seededRandom(Number(process.env["CRASH_SEED"] ?? 7));
    let kills = 0;
    for (; kills < 6; kills++) {
      const request = 2 + Math.floor(random.next() * 16);
      const { code } = await syncUntil(company, { request, afterMs: Math.floor(random.next() * 12) });
      if (code !== null) break;
      if (count(company.file, "SELECT count(*) FROM sqlite_master WHERE name = '_changes'") > 0)
        expectReplayable(company);
    }
    expect(kills).toBeGreaterThan(2);
    await finish(company);
    expectEqual(company);
    expectFrugal(company, kills);
  });
});

describe("killed between the parts of one long answer", () => {
  // Fault: process | kill -9 between the parts of one long answer | a process of `sync`, after 1,000 and 2,000 rows of a list | the list is read once more; no record is lost or doubled (I1)
  test("I1 the list is read once more, no record is lost or doubled, and its work row stays until the last part", async () => {
    const company = await aCompany({ records: 4_100 });
    writeConfig(company);
    const truth = truthOf(company.sandbox);
    const total = truth.get("clients")?.size ?? 0;
    expect(total).toBeGreaterThan(2_000);
    for (const rows of [1_000, 2_000]) {
      await killedWhen(company, () => count(company.file, "SELECT count(*) FROM clients") >= rows, [
        "clients",
      ]);
      const kept = count(company.file, "SELECT count(*) FROM clients");
      expect(kept % 1_000 === 0 || kept === total).toBe(true);
      if (kept < total)
        expect(count(company.file, "SELECT count(*) FROM _work WHERE resource = 'clients'")).toBe(1);
    }
    await finish(company, ["clients"]);
    expect(look(company.file, (db) => differences(db, truth, ["clients"]))).toEqual([]);
    expect(count(company.file, "SELECT count(*) FROM _changes WHERE resource = 'clients'")).toBe(total);
  });
});
