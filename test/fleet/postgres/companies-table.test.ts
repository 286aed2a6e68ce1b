import { expect, test } from "vitest";
import { openFleet } from "../../support/fleet/fleet.ts";
import { describeWithPostgres } from "../../support/postgres/databases.ts";

describeWithPostgres("the companies of a fleet", () => {
  test("join the fleet anew when they are added again: nobody received for them meanwhile (I6)", async () => {
    const { companies, postgres } = await openFleet();
    await companies.put("acme", {});
    await postgres.query("UPDATE fintoro_mirror.companies SET added_at = now() - interval '1 day'");
    const joined = async () => (await companies.find("acme"))?.addedAtMs ?? 0;
    const firstMs = await joined();
    await companies.put("acme", { language: "sk" });
    expect(await joined()).toBe(firstMs);
    await companies.remove("acme");
    expect(await companies.put("acme", { language: "sk" })).toBe("added");
    expect(await companies.find("acme")).toMatchObject({ removed: false, config: { language: "sk" } });
    expect(await joined()).toBeGreaterThan(firstMs + 86_000_000);
  });

  test("a later list has what changed since, removals and late commits too, and leaves out what did not", async () => {
    const { companies, postgres } = await openFleet();
    await companies.put("old", {});
    await postgres.query("UPDATE fintoro_mirror.companies SET changed_at = now() - interval '5 minutes'");
    await companies.put("acme", {});
    const { asOfMs, companies: all } = await companies.list();
    expect(all.map(({ name }) => name)).toEqual(["acme", "old"]);
    await companies.remove("acme");
    const { companies: changed } = await companies.list(asOfMs);
    expect(changed.map(({ name, removed }) => [name, removed])).toEqual([["acme", true]]);
    const late = await postgres.transaction(async (sql) => {
      await sql.query("INSERT INTO fintoro_mirror.companies (name, config) VALUES ('late', '{}')");
      return companies.list();
    });
    expect((await companies.list(late.asOfMs)).companies).toContainEqual(
      expect.objectContaining({ name: "late" }),
    );
  });
});
