import { expect, test } from "vitest";
import { openFleet } from "../../support/fleet.ts";
import { describeWithPostgres } from "../../support/postgres.ts";

describeWithPostgres("the companies of a fleet", () => {
  test("are added, changed, removed and added again", async () => {
    const { companies } = await openFleet();
    const config = { companies: { acme: { token: "${env:T}" } } };
    expect(await companies.put("acme", config)).toBe("added");
    expect(await companies.put("acme", structuredClone(config))).toBe("unchanged");
    expect(await companies.put("acme", { ...config, time_zone: "UTC" })).toBe("changed");
    expect(await companies.remove("acme")).toBe(true);
    expect(await companies.remove("acme")).toBe(false);
    expect(await companies.find("acme")).toMatchObject({ removed: true });
    expect(await companies.put("acme", config)).toBe("added");
    expect(await companies.find("acme")).toMatchObject({
      name: "acme",
      config,
      account: null,
      removed: false,
    });
    expect(await companies.find("other")).toBeNull();
  });

  test("a later list has what changed since, removals too, and leaves out what did not", async () => {
    const { companies, postgres } = await openFleet();
    await companies.put("old", {});
    await postgres.query("UPDATE fintoro_mirror.companies SET changed_at = now() - interval '5 minutes'");
    await companies.put("acme", {});
    const { asOfMs, companies: all } = await companies.list();
    expect(all.map(({ name }) => name)).toEqual(["acme", "old"]);
    await companies.remove("acme");
    const { companies: changed } = await companies.list(asOfMs);
    expect(changed.map(({ name, removed }) => [name, removed])).toEqual([["acme", true]]);
  });

  test("a change that commits late is not missed", async () => {
    const { companies, postgres } = await openFleet();
    let asOfMs = 0;
    await postgres.transaction(async (sql) => {
      await sql.query("INSERT INTO fintoro_mirror.companies (name, config) VALUES ('acme', '{}')");
      ({ asOfMs } = await companies.list());
    });
    expect((await companies.list(asOfMs)).companies.map(({ name }) => name)).toEqual(["acme"]);
  });
});
