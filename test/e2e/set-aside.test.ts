import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { readHealth } from "../../src/status/mirror-health.ts";
import { openDatabase } from "../../src/store/database.ts";
import { aCompany, sync, type Company } from "../support/company/company.ts";
import { count, expectEqual, expectHealed } from "../support/truth/equal.ts";
import { jsonReply } from "../support/company/proxy.ts";
import { truthOf } from "../support/truth/truth.ts";

const forbidden = () => jsonReply(403, { message: "This action is unauthorized." });
const invalid = () => jsonReply(422, { message: "The given data was invalid.", errors: { id: ["No."] } });

const some = { resources: ["clients", "orders", "quotations"], tables: ["clients", "orders", "quotations"] };

const ids = (company: Company, table: string) => [...(truthOf(company.sandbox).get(table)?.keys() ?? [])];

const withDetail = (company: Company, table: string) =>
  count(company.file, `SELECT count(*) FROM "${table}" WHERE _detail_at IS NOT NULL`);

/** The file's list of reads that were set aside. */
function setAsideIn(company: Company) {
  const db = openDatabase(company.file, { readonly: true });
  try {
    return readHealth(db, manifest).setAside;
  } finally {
    db.close();
  }
}

describe.each([
  ["403", forbidden],
  ["422", invalid],
])("%s on one detail", (_status, refusal) => {
  // Fault: service | 403 or 422 on one detail | a proxy, for one order | that record is set aside and named; every other comes in the same run
  test("sets that record aside: every other record comes in the same run, and the run names it", async () => {
    const company = await aCompany();
    const [refused = "", ...others] = ids(company, "orders");
    company.proxy.obstruct(({ path }) => (path === `/orders/${refused}` ? refusal() : undefined));
    const report = await sync(company, some);
    expect(report).toMatchObject({ outcome: "partial", resources: { orders: { pending: 1 } } });
    expect(report.troubles).toEqual([
      expect.objectContaining({ resource: "orders", kind: "dead", id: refused }),
    ]);
    expect(withDetail(company, "orders")).toBe(others.length);
    const reason = expect.stringContaining(`/orders/${refused}: `) as string;
    expect(setAsideIn(company)).toEqual([
      { resource: "orders", target: `id:${refused}`, id: refused, attempts: 1, reason },
    ]);
    await expectHealed(company, some);
    expect(setAsideIn(company)).toEqual([]);
  });

  // Fault: service | 403 or 422 on one detail, run after run | a proxy, for one order in three runs | asked again by each run, three times at most
  test("is asked again by the next run, at most 3 times in one run", async () => {
    const company = await aCompany();
    const [refused = ""] = ids(company, "orders");
    company.proxy.obstruct(({ path }) => (path === `/orders/${refused}` ? refusal() : undefined));
    for (let run = 1; run <= 3; run++) {
      const before = company.proxy.asked.length;
      expect((await sync(company, some)).outcome).toBe("partial");
      const asked = company.proxy.asked.slice(before).filter(({ path }) => path === `/orders/${refused}`);
      expect(asked.length).toBeGreaterThanOrEqual(1);
      expect(asked.length).toBeLessThanOrEqual(3);
    }
  });
});

// Fault: service | 403 on the CRM events of one client | a proxy, for that parent's list | only that parent is set aside; the next run is whole
test("403 on the list of one parent concerns that parent", async () => {
  const company = await aCompany({ records: 25 });
  const [client = ""] = ids(company, "clients");
  company.proxy.obstruct(({ query }) => (query.get("clientId") === client ? forbidden() : undefined));
  const resources = ["clients", "suppliers", "business_cases", "contact_activity_logs"];
  const report = await sync(company, { resources });
  expect(report.troubles).toEqual([
    expect.objectContaining({ resource: "contact_activity_logs", kind: "dead", id: client }),
  ]);
  await expectHealed(company, { resources, tables: resources });
});

// Fault: service | 403, 422 or unproven 404 on all details of a resource | a proxy, for every order | five in a row hold the resource, with fewer than 30 requests; the others are whole
test.each([
  ["403", forbidden, "forbidden"],
  ["422", invalid, "failed"],
  ["404 that proves nothing", () => jsonReply(404, { message: "No query results for model." }), "failed"],
])(
  "%s on every detail of a resource: five in a row hold it, the others are whole",
  async (_case, refusal, kind) => {
    const company = await aCompany({ records: 100 });
    const orders = ids(company, "orders").length;
    company.proxy.obstruct(({ path }) => (/^\/orders\/\d+$/.test(path) ? refusal() : undefined));
    const report = await sync(company, some);
    const asked = company.proxy.asked.filter(({ path }) => /^\/orders\/\d+$/.test(path)).length;
    expect(asked).toBeLessThan(5 * 6);
    expect(report).toMatchObject({ outcome: "partial", resources: { orders: { pending: orders } } });
    const kinds = report.troubles.map((one) => one.kind);
    expect(kinds.filter((one) => one !== "dead")).toEqual([kind]);
    // Those in flight when it is held are set aside as well.
    expect(kinds.length - 1).toBeGreaterThanOrEqual(5);
    expect(kinds.length - 1).toBeLessThanOrEqual(5 + 5);
    expectEqual(company, { tables: ["quotations", "clients"] });
    await expectHealed(company, some);
  },
);

test("refused records hold no list: each run reads it, and asks for few of the records it adds", async () => {
  const company = await aCompany({ records: 25 });
  company.proxy.obstruct(({ path }) => (/^\/orders\/\d+$/.test(path) ? forbidden() : undefined));
  await sync(company, some);
  for (let run = 2; run <= 3; run++) {
    company.sandbox.control.trigger("orders.created");
    const before = company.proxy.asked.length;
    const report = await sync(company, some);
    const asked = company.proxy.asked.slice(before).filter(({ path }) => path.startsWith("/orders"));
    expect(asked.filter(({ path }) => path === "/orders")).toHaveLength(1);
    expect(asked.length).toBeLessThan(20);
    const orders = ids(company, "orders").length;
    expect(report.resources["orders"]).toMatchObject({ listed: orders, inserted: 1, pending: orders });
  }
});

// Fault: service | 403 on every third invoice | a proxy, for their details | a 200 in between shows that the resource is read: none is held
test("many refused records among many others hold nothing: a 200 in between shows that the resource is read", async () => {
  const company = await aCompany({ records: 25 });
  const odd = new Set(ids(company, "invoices").filter((_, i) => i % 3 === 0));
  company.proxy.obstruct(({ path }) =>
    odd.has(/^\/invoices\/(\d+)$/.exec(path)?.[1] ?? "") ? forbidden() : undefined,
  );
  const report = await sync(company, { resources: ["invoices", "document_payments"], concurrency: 1 });
  expect(report.troubles.every(({ kind }) => kind === "dead")).toBe(true);
  expect(setAsideIn(company)).toHaveLength(odd.size);
  expect(report.resources["invoices"]).toMatchObject({ pending: odd.size });
});
