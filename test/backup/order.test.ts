import { renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { aMirrored, backUp, idsIn, restore, run } from "../support/company/backups.ts";
import { sync } from "../support/company/company.ts";
import { look } from "../support/truth/equal.ts";

interface Position {
  readonly log: string;
  readonly next_since: number;
}

describe("a backup", () => {
  // Fault: clock | a backup was made while the clock was years ahead | `backup --keep` and `restore` | the new one stays and is restored, the name in the future is warned of
  test("that is new stays and is the newest, also where an earlier one has a name in the future", async () => {
    const company = await aMirrored();
    const first = await backUp(company);
    const ahead = "2099-01-01T00-00-00-000Z";
    renameSync(path.join(company.backups, "acme", first), path.join(company.backups, "acme", ahead));
    company.sandbox.control.create("clients", { name: "Nová" });
    await sync(company);
    const second = await backUp(company, "--keep", "2");
    expect(idsIn(company)).toEqual([second, ahead]);
    const { stdout, stderr } = await restore(company);
    expect(stdout).toContain(`backup ${second}`);
    expect(stderr).toContain(`in the future: ${ahead}`);
    const third = await backUp(company, "--keep", "2");
    expect(idsIn(company)).toEqual([second, third]);
    const last = await backUp(company, "--keep", "1");
    expect(idsIn(company)).toEqual([last]);
  });

  // Fault: disk | the manifest of an earlier backup is damaged | `backup --keep` and `restore` | the new one is made; the damaged one is neither removed nor passed over unseen
  test("is made beside one whose manifest cannot be read", async () => {
    const company = await aMirrored();
    const damaged = await backUp(company);
    writeFileSync(path.join(company.backups, "acme", damaged, "manifest.json"), "{");
    const second = await backUp(company, "--keep", "2");
    const third = await backUp(company, "--keep", "2");
    expect(idsIn(company)).toEqual([damaged, third]);
    expect((await restore(company)).code).toBe(10);
    expect((await restore(company, "--at", third)).code).toBe(0);
    expect(second).not.toBe(third);
  });
});

describe("a restore", () => {
  // Fault: disk | the same backup is restored twice, over mirrors that went on from it | `changes --since` with positions of the replaced mirrors | no number is given twice; those positions are refused
  test("gives no number that the backup, the replaced mirror or an earlier restore of it gave", async () => {
    const company = await aMirrored();
    await backUp(company);
    let last = 0;
    const seen = new Set<string>();
    for (const [round, name] of ["Prvá", "Druhá", "Tretia"].entries()) {
      company.sandbox.control.create("clients", { name });
      await sync(company);
      const { log, next_since } = JSON.parse((await run(company, ["changes", "--json"])).stdout) as Position;
      expect(next_since).toBeGreaterThan(last);
      expect(seen.has(log)).toBe(false);
      seen.add(log);
      last = next_since;
      if (round === 1) rmSync(company.file);
      expect((await restore(company)).code).toBe(0);
      for (const position of [`${log}:${next_since}`, String(next_since)])
        expect((await run(company, ["changes", "--since", position])).code).toBe(2);
    }
  });

  test("makes the report say of which log its position is, though nothing else changed", async () => {
    const company = await aMirrored();
    await backUp(company);
    const logs = async () => {
      expect((await run(company, ["publish"])).code).toBe(0);
      const { log } = JSON.parse((await run(company, ["changes", "--json"])).stdout) as Position;
      const fact = "SELECT value FROM _about WHERE fact = 'log'";
      return [log, look(company.file.replace(/db$/, "report.db"), (db) => db.prepare(fact).pluck().get())];
    };
    const [before, reported] = await logs();
    expect((await restore(company)).code).toBe(0);
    const [log, again] = await logs();
    expect([reported, again]).toEqual([before, log]);
    expect(log).not.toBe(before);
  });
});
