import { describe, expect, test } from "vitest";
import { aCompany, sync, type Company } from "../support/company/company.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { floorOf, spentOn, truthOf } from "../support/truth/truth.ts";
import { syncHere, syncUntil, writeConfig } from "../support/crash/crash.ts";
import {
  count,
  expectEqual,
  expectHealed,
  expectReplayable,
  expectTombstonesTrue,
} from "../support/truth/equal.ts";

describe("a run that is asked to stop", () => {
  // Fault: process | SIGINT and SIGTERM in the middle of a run | a process of `sync`, and `sync` | it ends with 130 or 143 after a commit, and the next run continues
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "by %s ends with %i after a commit, says so, and the next run goes on",
    async (signal, code) => {
      const company = await aCompany({ records: 8 });
      writeConfig(company);
      const ended = await (signal === "SIGTERM"
        ? syncUntil(company, { request: 40, afterMs: 1, signal })
        : syncHere(company, [], { request: 40, signal }));
      expect(ended.code).toBe(code);
      expect(ended.report).toMatchObject({ outcome: "interrupted" });
      expect(count(company.file, "SELECT count(*) FROM _runs WHERE outcome = 'interrupted'")).toBe(1);
      const asked = company.proxy.asked.length;
      expect(await sync(company)).toMatchObject({ outcome: "complete", resumed: true });
      const again = company.proxy.asked.slice(asked).map(({ target }) => target);
      expect(again).not.toContain("/countries");
      expectEqual(company);
    },
  );

  // Fault: network | an answer that never comes, with --max-duration 2s | a proxy, before `sync` | it ends with 5; the next run completes
  test("by --max-duration ends with 5, although an answer does not come", async () => {
    const company = await aCompany({ records: 2 });
    writeConfig(company, "http: { timeout: 2s }");
    company.proxy.obstruct(({ path }) => (path === "/invoices" ? "hang" : undefined));
    const ended = await syncHere(company, ["--max-duration", "2s"]);
    expect({ code: ended.code, outcome: ended.report?.outcome }).toEqual({ code: 5, outcome: "stopped" });
    await expectHealed(company);
  });
});

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

// Fault: process | kill -9 at varied moments, up to four times | a process of `sync` during a first run | the next run repeats what was in flight only, and ends equal to the service (I1, I7)
test("I1 I7 a first sync that is killed again and again goes on where it was, repeats only what was in flight, and ends equal to the service", async () => {
  const company = await aCompany();
  writeConfig(company);
  const random = seededRandom(Number(process.env["CRASH_SEED"] ?? 7));
  let kills = 0;
  for (; kills < 4; kills++) {
    const request = 2 + Math.floor(random.next() * 16);
    const { code } = await syncUntil(company, { request, afterMs: Math.floor(random.next() * 12) });
    if (code !== null) break;
    if (count(company.file, "SELECT count(*) FROM sqlite_master WHERE name = '_changes'") > 0)
      expectReplayable(company);
  }
  expect(kills).toBeGreaterThan(2);
  expect(await syncHere(company)).toMatchObject({ code: 0, report: { troubles: [] } });
  expectReplayable(company);
  expectTombstonesTrue(company);
  expectEqual(company);
  expectFrugal(company, kills);
});
