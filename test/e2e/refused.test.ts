import { describe, expect, test } from "vitest";
import { aCompany, aMirroredCompany, sync, type Company } from "../support/company/company.ts";
import { count, dump, expectEqual, expectHealed } from "../support/truth/equal.ts";
import { lastPathOf, truthOf } from "../support/truth/truth.ts";
import { jsonReply, type Obstacle, type Reply } from "../support/company/proxy.ts";

/** Answers matching requests in the service's place. */
function refuse(path: RegExp, status: number, message: string, from = 1): Obstacle {
  let seen = 0;
  return (asked) => (path.test(asked.path) && ++seen >= from ? jsonReply(status, { message }) : undefined);
}

const some = {
  resources: ["clients", "suppliers", "orders", "invoices", "document_payments", "proformas"],
  tables: ["clients", "suppliers", "orders", "invoices", "proformas"],
};

const live = (company: Company, table: string) =>
  count(company.file, `SELECT count(*) FROM "${table}" WHERE _deleted_at IS NULL`);

describe("401", () => {
  // Fault: identity | the token is revoked in the middle of a run | a proxy answers 401 from the 11th request on | the run ends at once; the next one continues where it stopped
  test("in the middle of a run ends it at once, and the next run continues where it stopped", async () => {
    const company = await aCompany();
    company.proxy.obstruct((asked) =>
      asked.n > 10 ? jsonReply(401, { message: "Unauthenticated." }) : undefined,
    );
    const report = await sync(company, some);
    expect(report).toMatchObject({
      outcome: "unauthenticated",
      error: { kind: "unauthenticated", request_id: "req-proxy" },
    });
    expect(company.proxy.asked.length).toBeLessThanOrEqual(10 + 6);
    company.recover();
    const next = await sync(company, some);
    expect(next).toMatchObject({ outcome: "complete", resumed: true });
    expectEqual(company, some);
  });
});

describe("403 on one resource", () => {
  // Fault: service | 403 on one resource | a proxy, for every route of proformas | the others are whole, the run is partial, the next one repairs it
  test("leaves the others whole, is reported, and is repaired by the next run", async () => {
    const company = await aCompany();
    company.proxy.obstruct(refuse(/^\/proformas/, 403, "This action is unauthorized."));
    const report = await sync(company, some);
    expect(report.outcome).toBe("partial");
    expect(report.troubles).toEqual([expect.objectContaining({ resource: "proformas", kind: "forbidden" })]);
    expectEqual(company, { tables: ["invoices", "orders", "suppliers", "clients"] });
    await expectHealed(company, some);
  });

  // Fault: service | 403 on the details of one resource | a proxy, from the third detail on, in a full run | nothing is deleted; the next run repairs it
  test("on details only: the rest is whole, nothing is deleted, the next run repairs it", async () => {
    const company = await aMirroredCompany();
    company.proxy.obstruct(refuse(/^\/orders\/\d+$/, 403, "This action is unauthorized.", 3));
    const report = await sync(company, { ...some, full: true });
    expect(report).toMatchObject({ outcome: "partial", resources: { orders: { deleted: 0 } } });
    await expectHealed(company, some);
  });
});

describe("404 on a list's route", () => {
  // Fault: service | 404 on a list's route | a proxy, for suppliers | a failure of that resource; nothing of it is deleted (I5)
  test("is reported as a failure of that resource; nothing of it is deleted", async () => {
    const company = await aMirroredCompany();
    const before = live(company, "suppliers");
    company.proxy.obstruct(
      refuse(/^\/suppliers$/, 404, "The route api/public/v1/suppliers could not be found."),
    );
    const report = await sync(company, some);
    expect(report.outcome).toBe("partial");
    expect(report.troubles).toEqual([expect.objectContaining({ resource: "suppliers", kind: "failed" })]);
    expect(live(company, "suppliers")).toBe(before);
    await expectHealed(company, some);
  });
});

describe("404 on details", () => {
  // Fault: service | every detail of the company answers 404 | a proxy, for every path that ends with an id | nothing is deleted, and the mirror stays as it was (I5)
  test("of everything at once: nothing is deleted (I5)", async () => {
    const company = await aMirroredCompany();
    const before = dump(company.file, ["_runs", "_work", "_meta", "_parents"]);
    company.proxy.obstruct(refuse(/\/\d+$/, 404, "No query results for model."));
    expect((await sync(company, { full: true })).outcome).toBe("partial");
    expect(dump(company.file, ["_runs", "_work", "_meta", "_parents"])).toEqual(before);
  });

  // Fault: service | one new record is in the list and answers 404 | a proxy, for one detail | the rest is whole; the record comes when it answers
  test("of one new record that the list shows: the rest is whole, and the record comes when it answers", async () => {
    const company = await aCompany();
    const order = lastPathOf(truthOf(company.sandbox), "orders");
    company.proxy.obstruct(refuse(new RegExp(`^${order}$`), 404, "No query results for model."));
    const report = await sync(company, some);
    expect(report.resources["invoices"]).toMatchObject({ failed: 0, pending: 0 });
    expect(live(company, "orders")).toBe((report.resources["orders"]?.listed ?? 0) - 1);
    await expectHealed(company, some);
  });

  // Fault: service | 404 with an HTML page | a proxy, for one detail | it proves no deletion (I5)
  test("that is no JSON of the service proves nothing (I5)", async () => {
    const company = await aMirroredCompany();
    const before = live(company, "orders");
    const order = lastPathOf(truthOf(company.sandbox), "orders");
    company.proxy.obstruct((asked) =>
      asked.path === order
        ? { status: 404, headers: { "content-type": "text/html" }, body: Buffer.from("<h1>Not Found</h1>") }
        : undefined,
    );
    expect((await sync(company, { ...some, full: true })).outcome).toBe("partial");
    expect(live(company, "orders")).toBe(before);
  });
});

describe("422 on a list", () => {
  // Fault: pagination | 422: the page size is refused | a proxy, above 50 a page | smaller pages, and every record is shown
  test("over perPage falls back to smaller pages and still shows everything", async () => {
    const company = await aCompany({ records: 220 });
    const errors = { perPage: ["The per page field must not be greater than 50."] };
    company.proxy.obstruct((asked) =>
      asked.path === "/invoices" && Number(asked.query.get("perPage")) > 50
        ? jsonReply(422, { message: "The given data was invalid.", errors })
        : undefined,
    );
    expect((await sync(company, { resources: ["invoices", "document_payments"] })).outcome).toBe("complete");
    expectEqual(company, { tables: ["invoices"] });
    expect(company.proxy.asked.filter((asked) => asked.path === "/invoices").length).toBeGreaterThan(3);
  });

  // Fault: pagination | 422: the sort order is refused | a proxy, for orders | one list request more, in the service's own order; complete
  test("over its order is read in the service's own order, and a parent's list in smaller pages", async () => {
    const company = await aCompany();
    company.proxy.obstruct(({ path, query }) => {
      if (path === "/orders" && query.has("sortBy")) return refusedField("sortBy");
      const isLarge = path === "/contact-activity-logs" && Number(query.get("perPage")) > 100;
      return isLarge ? refusedField("perPage") : undefined;
    });
    const resources = ["orders", "clients", "suppliers", "business_cases", "contact_activity_logs"];
    expect((await sync(company, { resources })).outcome).toBe("complete");
    expectEqual(company, { tables: resources });
    const refused = company.proxy.asked.filter(
      ({ path, query }) => path === "/orders" && query.has("sortBy"),
    );
    expect(refused).toHaveLength(1);
    const large = company.proxy.asked.filter(({ query }) => query.get("perPage") === "200");
    expect(large.filter(({ path }) => path === "/contact-activity-logs").length).toBeLessThanOrEqual(6);
  });

  // Fault: service | 422 for an unknown reason | a proxy, for a list | the run is partial and names the field in the service's words
  test("for another reason is reported in the service's words, with the field", async () => {
    const company = await aCompany();
    const errors = { sortBy: ["The selected sort by is invalid."] };
    company.proxy.obstruct((asked) =>
      asked.path === "/orders"
        ? jsonReply(422, { message: "The given data was invalid.", errors })
        : undefined,
    );
    const report = await sync(company, some);
    expect(report.outcome).toBe("partial");
    expect(report.troubles[0]?.message).toContain("sortBy");
  });
});

function refusedField(field: string): Reply {
  return jsonReply(422, {
    message: "The given data was invalid.",
    errors: { [field]: ["Neplatná hodnota."] },
  });
}
