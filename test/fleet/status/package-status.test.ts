import { expect } from "vitest";
import { openFleet, runFleet, test, type Fleet } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const month = "2026-10";
const stores = "snapshots: s3://bucket/mirrors, reports: s3://bucket/reports";

const run = (fleet: Fleet, args: readonly string[], more = stores) => runFleet(fleet, args, more);

const content = { log: "a1", position: 7, proved: false, bytes: 1_200_000, sha256: "0".repeat(64) };
const stored = (company: string, without_pdf: readonly string[] = []) => ({
  key: `packages/${month}/${company}/${company}-${month}-1-1.zip`,
  ...content,
  without_pdf,
});

async function dueOf({ packages }: Fleet, company: string) {
  const asked = await packages.next(company);
  if (!asked) throw new Error(`nothing is due of ${company}`);
  return asked;
}

const worker = { node: "one", version: "1", role: "work", held: 0, capacity: 50 };

describeWithPostgres("the month of all companies", () => {
  test("is asked for by tag, and status says who has it, who is late and why: exit 3 where some failed, 1 where late", async () => {
    const fleet = await openFleet();
    await fleet.nodes.register(worker);
    for (const name of ["acme", "beta", "gamma", "delta", "lost", "new"])
      await fleet.companies.put(name, {}, null, "UTC", name === "new" ? [] : ["monthly"]);
    const all = await run(fleet, ["package", "--month", month, "--tag", "monthly", "--json"]);
    const asked = ["acme", "beta", "delta", "gamma", "lost"];
    expect([all.code, JSON.parse(all.stdout)]).toEqual([0, { month, proved: false, asked }]);
    const acme = await fleet.owned("acme");
    await fleet.packages.finish(acme, await dueOf(fleet, "acme"), stored("acme"));
    const status = (...args: string[]) => run(fleet, ["status", "--package", month, ...args]);
    expect((await status("--company", "acme")).code).toBe(0);
    expect((await status()).code).toBe(1);
    const [beta, gamma] = [await fleet.owned("beta"), await fleet.owned("gamma")];
    await fleet.packages.fail(beta, await dueOf(fleet, "beta"), "token_refused", "GET /whoami: 401");
    await fleet.packages.finish(gamma, await dueOf(fleet, "gamma"), stored("gamma", ["F1", "F2"]));
    await fleet.owned("lost", "two");
    await fleet.expire("lost");
    const { code, stdout } = await status();
    expect(code).toBe(3);
    const lines = stdout.replaceAll(/\d{4}-\d\d-\d\dT\S+Z/g, "TIME").split("\n");
    expect(lines.slice(0, -1)).toEqual([
      "2026-10: 1 of 6 companies packed, 2 failed, 3 late",
      "! beta: failed: the token is refused: GET /whoami: 401; next try at TIME",
      "! gamma: partial: 2 documents without a PDF: packages/2026-10/gamma/gamma-2026-10-1-1.zip, 1.2 MB, not proved, of TIME",
      "! delta: late: no worker has it yet",
      "! lost: late: two was lost with it",
      "! new: late: it was not asked for",
      "  acme: packages/2026-10/acme/acme-2026-10-1-1.zip, 1.2 MB, not proved, of TIME",
    ]);
    const { companies } = JSON.parse((await status("--json")).stdout) as { companies: object };
    expect(companies).toMatchObject({
      acme: { outcome: "done", made: stored("acme"), due_at: null, reason: null },
      beta: { outcome: "failed", reason: "token_refused", made: null },
      new: { outcome: "late", asked_at: null },
    });
  });

  test("is refused with one line: a month that is none or to come, an unknown tag, no store, a connector without one, no worker", async () => {
    const fleet = await openFleet();
    await fleet.nodes.register(worker);
    await fleet.companies.put("acme", {}, null, "UTC", ["monthly"]);
    await fleet.companies.put("ucet", { connector: "fakturoid" }, null, "UTC", []);
    const refusals = await Promise.all([
      run(fleet, ["package"]),
      run(fleet, ["package", "--month", "2026-13"]),
      run(fleet, ["package", "--month", "2999-01"]),
      run(fleet, ["package", "--month", month, "--tag", "montly"]),
      run(fleet, ["package", "--month", month], "snapshots: s3://bucket/mirrors"),
      run(fleet, ["package", "--month", month, "--company", "acme,ucet"]),
    ]);
    expect(refusals.map(({ code, stderr }) => [code, stderr.split("\n")[0]])).toEqual([
      [2, expect.stringContaining("fleet package needs --month")],
      [2, expect.stringContaining("a month such as 2026-10")],
      [2, expect.stringContaining("has not begun yet")],
      [2, expect.stringContaining("montly")],
      [2, expect.stringContaining("packages are stored in fleet.reports, which the config does not have")],
      [2, expect.stringContaining("ucet: Fakturoid has no package of a month")],
    ]);
    expect(await fleet.packages.next("acme")).toBe(null);
    await fleet.nodes.remove("one");
    const { code, stdout, stderr } = await run(fleet, ["package", "--month", month]);
    expect([code, stdout.split("\n")[1]]).toEqual([1, "no worker runs: it is packed as soon as one does"]);
    expect(stderr).toContain("ucet: Fakturoid has no package of a month: left out");
    expect(await dueOf(fleet, "acme")).toMatchObject({ month, proved: false, made: null });
    expect(await fleet.packages.next("ucet")).toBe(null);
    const status = await run(fleet, ["status", "--package", month, "--json"]);
    expect(JSON.parse(status.stdout)).toMatchObject({ companies: { acme: { outcome: "late" } } });
    expect(status.stdout).not.toContain("ucet");
  });

  test("stays due where it is asked for again while it is made by its owner", async ({ fleet }) => {
    const owner = await fleet.owned("acme");
    await fleet.packages.ask(["acme"], month, false);
    const asked = await dueOf(fleet, "acme");
    await fleet.packages.ask(["acme"], month, true);
    await fleet.packages.finish(owner, asked, stored("acme"));
    expect(await dueOf(fleet, "acme")).toMatchObject({ proved: true, made: stored("acme") });
    const late = fleet.packages.finish({ ...owner, epoch: owner.epoch - 1 }, asked, stored("acme"));
    await expect(late).rejects.toMatchObject({ kind: "locked" });
  });

  test("brings a node its own companies, then those that nobody has, no others", async ({ fleet }) => {
    await fleet.add("free", "left");
    await fleet.owned("mine", "one");
    await fleet.owned("theirs", "two");
    await fleet.packages.ask(["free", "left", "mine", "theirs"], month, false);
    await fleet.companies.remove("left");
    expect(await fleet.packages.due("one")).toEqual([
      { company: "mine", isOwned: true },
      { company: "free", isOwned: false },
    ]);
  });
});
