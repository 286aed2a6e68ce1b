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
  });

  test("reads lists of several pages page by page and still costs the floor", async () => {
    const company = await aCompany({ records: 1_050 });
    const report = await sync(company, { resources: ["invoices", "document_payments"] });
    expect(report.outcome).toBe("complete");
    const floor = floorOf(expectEqual(company, { tables: ["invoices"] }));
    const spent = spentOn(company.proxy.asked);
    expect(spent.lists).toEqual(["/invoices#1", "/invoices#2", "/whoami"]);
    expect(spent.details).toEqual(floor.details.filter((path) => path.startsWith("/invoices")));
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

  test("counts every listed record as unchanged", async () => {
    const company = await aMirroredCompany();
    const { resources } = await sync(company);
    for (const [name, counts] of Object.entries(resources)) {
      expect({ name, ...counts }).toMatchObject({
        inserted: 0,
        updated: 0,
        deleted: 0,
        failed: 0,
        pending: 0,
      });
      if (name !== "document_payments")
        expect({ name, count: counts.unchanged }).toEqual({ name, count: counts.listed });
    }
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

describe("a run of some resources", () => {
  test("reads those only, and leaves the others as they are", async () => {
    const company = await aCompany();
    const report = await sync(company, { resources: ["invoices", "document_payments"] });
    expect(Object.keys(report.resources)).toEqual(["invoices", "document_payments"]);
    const paths = new Set(company.proxy.asked.map(({ path }) => path.split("/")[1]));
    expect(paths).toEqual(new Set(["invoices", "whoami"]));
    expect(count(company.file, "SELECT count(*) FROM clients")).toBe(0);
    expectEqual(company, { tables: ["invoices"] });
  });

  test("of CRM events alone asks for the parents that the mirror knows", async () => {
    const company = await aMirroredCompany();
    const asked = company.proxy.asked.length;
    const resources = ["contact_activity_logs"];
    expect((await sync(company, { resources, parentsPerRun: "all" })).outcome).toBe("complete");
    const floor = floorOf(truthOf(company.sandbox));
    expect(spentOn(company.proxy.asked.slice(asked))).toEqual({
      lists: ["/whoami"],
      details: [],
      children: floor.children,
    });
  });

  test("with parents spread over runs reads so many lists each time, the stalest first, and comes round to all", async () => {
    const company = await aCompany();
    const resources = ["clients", "suppliers", "business_cases", "contact_activity_logs"];
    const read: string[] = [];
    for (let run = 0; run < 4; run++) {
      const asked = company.proxy.asked.length;
      expect((await sync(company, { parentsPerRun: 8, resources })).outcome).toBe("complete");
      const { children } = spentOn(company.proxy.asked.slice(asked));
      expect(children).toHaveLength(8);
      read.push(...children);
    }
    const { children } = floorOf(expectEqual(company, { tables: resources }));
    expect(new Set(read)).toEqual(new Set(children));
    expect(new Set(read.slice(0, 24)).size).toBe(24);
  });
});
