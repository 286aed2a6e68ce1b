import { expect, test } from "vitest";
import { openFleet, runFleet, type Fleet } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

const run = (fleet: Fleet, ...args: string[]) => runFleet(fleet, ["status", ...args]);

describeWithPostgres("fleet status", () => {
  test("exits 0 while all is well, and 1 with the reason when nobody works", async () => {
    const fleet = await openFleet();
    await fleet.add("acme");
    const alone = await run(fleet);
    expect(alone.code).toBe(1);
    expect(alone.stdout).toContain("\n! no worker runs\n");
    const facts = { node: "worker-1", version: "1.2.3", role: "all", held: 0, capacity: 50 };
    await fleet.nodes.register(facts);
    const well = await run(fleet, "--json");
    expect(well.code).toBe(0);
    expect(JSON.parse(well.stdout)).toMatchObject({
      problems: [],
      companies: { acme: { held: false, problems: [] } },
      nodes: [{ node: "worker-1", lost: false }],
    });
  });

  test("obeys --max-age and --company", async () => {
    const fleet = await openFleet();
    await fleet.add("acme", "beta");
    await fleet.nodes.register({ node: "worker-1", version: "1", role: "work", held: 0, capacity: 1 });
    await fleet.postgres.query(
      "UPDATE fintoro_mirror.companies SET added_at = now() - interval '2 minutes' WHERE name = 'acme'",
    );
    const old = await run(fleet, "--max-age", "1m");
    expect([old.code, old.stdout.match(/^! .*/gm)]).toEqual([
      1,
      ["! acme: never read whole, 2m 00s after it was added (idle; not read whole yet; no snapshot)"],
    ]);
    expect((await run(fleet, "--max-age", "1m", "--company", "beta")).code).toBe(0);
    const unknown = await run(fleet, "--company", "gamma");
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("gamma") as string]);
  });
});
