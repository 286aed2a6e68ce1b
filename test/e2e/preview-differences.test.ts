import { expect, test } from "vitest";
import { aCompany, sync, type Company } from "../support/company/company.ts";
import { count, lastId } from "../support/truth/equal.ts";
import { jsonReply, type Obstacle } from "../support/company/proxy.ts";
import { truthOf } from "../support/truth/truth.ts";

interface List {
  readonly data: Record<string, unknown>[];
  readonly paginator: object;
}

/** The list of orders as the service gives it, except that records show another total. */
const otherTotals: Obstacle = async ({ path }, passOn) => {
  if (path !== "/orders") return undefined;
  const answer = JSON.parse(String((await passOn()).body)) as List;
  const data = answer.data.map((one) => ({ ...one, total: Number(one["total"]) + 1 }));
  return jsonReply(200, { ...answer, data });
};

const orders = { resources: ["orders", "currencies"] };
const noted = (company: Company) => count(company.file, "SELECT count(*) FROM _preview_differences");

// Fault: service | lists show a field otherwise than details, for good | a proxy, for the totals of orders | a few reads, then the field is no longer compared, and each report names it
test("a field that lists and details show differently costs a few reads, is then no longer compared, is named by each report, hides no other change, and is compared again once they agree", async () => {
  const company = await aCompany({ records: 240 });
  const size = truthOf(company.sandbox).get("orders")?.size ?? 0;
  expect(size).toBeGreaterThan(20);
  company.proxy.obstruct(otherTotals);
  const first = await sync(company, orders);
  expect(first).toMatchObject({ requests: { detail: size }, uncompared_fields: [] });
  const second = await sync(company, orders);
  expect(second.requests.detail).toBeLessThanOrEqual(4 + 6);
  expect(second.resources["orders"]).toMatchObject({ updated: 0, pending: 0 });
  company.sandbox.control.alter("orders", lastId(company, "orders"), { issueDate: "2026-11-19" });
  const third = await sync(company, orders);
  expect(third).toMatchObject({ requests: { detail: 1 }, resources: { orders: { updated: 1 } } });
  for (const { uncompared_fields: fields } of [second, third]) expect(fields).toEqual(["orders.total"]);
  expect(noted(company)).toBeGreaterThan(3);
  company.recover();
  expect((await sync(company, orders)).uncompared_fields).toEqual([]);
  expect(noted(company)).toBe(0);
});
