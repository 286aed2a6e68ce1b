import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { openDatabase } from "../../src/store/database.ts";
import { readHealth, type Health } from "../../src/status/mirror-health.ts";
import { aCompany, sync, type Company } from "../support/company/company.ts";

function healthOf(company: Company): Health {
  const db = openDatabase(company.file, { readonly: true });
  try {
    return readHealth(db, manifest);
  } finally {
    db.close();
  }
}

function neverRead(health: Health): string[] {
  return health.resources.filter(({ sweptAt }) => sweptAt === null).map(({ name }) => name);
}

function ages(health: Health): Map<string, string | null> {
  return new Map(health.resources.map(({ name, sweptAt }) => [name, sweptAt]));
}

describe("the health of a mirror", () => {
  test("says of every table when it was last read whole", async () => {
    const company = await aCompany();
    await sync(company);
    const health = healthOf(company);
    expect(health.resources).toHaveLength(manifest.resources.length);
    expect(neverRead(health)).toEqual([]);
    expect(health.runs[0]?.outcome).toBe("complete");
  });

  test("of a stopped run shows what was not read yet and what waits", async () => {
    const company = await aCompany();
    await sync(company, { mostRequests: 12 });
    const health = healthOf(company);
    expect(neverRead(health)).toContain("invoices");
    expect(neverRead(health)).not.toContain("company");
    expect(health.queue.length).toBeGreaterThan(0);
  });

  test("counts what an interrupted run has read: the next one continues it and does not read that again", async () => {
    const company = await aCompany();
    await sync(company, { mostRequests: 40 });
    const report = await sync(company);
    expect(report).toMatchObject({ outcome: "complete", resumed: true });
    expect(report.resources["banks"]?.listed).toBe(0);
    expect(neverRead(healthOf(company))).toEqual([]);
  });

  test("of a run of some tables leaves the age of the others as it was", async () => {
    const company = await aCompany();
    await sync(company);
    const before = healthOf(company);
    await sync(company, { resources: ["clients"] });
    const after = healthOf(company);
    expect(ages(after).get("banks")).toBe(ages(before).get("banks"));
    expect(ages(after).get("clients")).not.toBe(ages(before).get("clients"));
  });
});
