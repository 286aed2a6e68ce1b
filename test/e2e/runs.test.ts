import { describe, expect, test } from "vitest";
import { aCompany, aMirroredCompany, sync } from "../support/company/company.ts";
import { count, dump, expectEqual } from "../support/truth/equal.ts";
import { floorOf, truthOf, spentOn } from "../support/truth/truth.ts";

describe("a first run", () => {
  test("I11 leaves a mirror equal to the service, column by column, and costs exactly the floor: each list and page once, one detail for each document, one list for each parent", async () => {
    const company = await aCompany();
    const report = await sync(company);
    expect(report).toMatchObject({ outcome: "complete", troubles: [], new_columns: [], missing_fields: [] });
    const floor = floorOf(expectEqual(company));
    const spent = spentOn(company.proxy.asked);
    expect(spent.lists).toEqual(floor.lists);
    expect(spent.children).toEqual(floor.children);
    expect(spent.details).toEqual(floor.details);
    expect(report.requests).toMatchObject({
      total: company.proxy.asked.length,
      list: floor.lists.length,
      detail: floor.details.length,
      child: floor.children.length,
      confirm: 0,
      retried: 0,
      rate_limited: 0,
    });
    const size = truthOf(company.sandbox).get("invoices")?.size;
    const counts = { inserted: size, updated: 0, hydrated: size, unchanged: 0, provisional: 0 };
    expect(report.resources["invoices"]).toMatchObject(counts);
  });

  test("of an empty company is complete, and so is the next", async () => {
    const company = await aCompany({ records: 0 });
    expect((await sync(company)).outcome).toBe("complete");
    expectEqual(company);
    expect((await sync(company)).outcome).toBe("complete");
  });
});

describe("a run after which nothing changed", () => {
  test("I2 I7 writes to no table but the runs, and asks for lists only", async () => {
    const company = await aMirroredCompany();
    const before = dump(company.file);
    const asked = company.proxy.asked.length;
    const report = await sync(company, { parentsPerRun: "auto" });
    expect(dump(company.file)).toEqual(before);
    const floor = floorOf(truthOf(company.sandbox));
    const lists = { lists: floor.lists, details: [], children: [] };
    expect(spentOn(company.proxy.asked.slice(asked))).toEqual(lists);
    expect(report.requests).toMatchObject({ detail: 0, confirm: 0, total: floor.lists.length });
    expect(count(company.file, "SELECT count(*) FROM _runs")).toBe(2);
  });

  test("--full reads every detail and every child list again, and changes nothing people see", async () => {
    const company = await aMirroredCompany();
    const visible = () =>
      Object.entries(dump(company.file)).filter(([table]) => !/^_(fence_|runs|meta|parents)/.test(table));
    const before = visible();
    const asked = company.proxy.asked.length;
    expect((await sync(company, { full: true })).outcome).toBe("complete");
    expect(visible()).toEqual(before);
    expect(spentOn(company.proxy.asked.slice(asked))).toEqual(floorOf(truthOf(company.sandbox)));
  });
});
