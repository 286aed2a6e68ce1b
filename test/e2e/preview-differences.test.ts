import { describe, expect, test } from "vitest";
import { aCompany, sync, type Company } from "../support/company/company.ts";
import { count, lastId, look, serviceIds } from "../support/truth/equal.ts";
import { jsonReply, type Obstacle } from "../support/company/proxy.ts";
import { truthOf } from "../support/truth/truth.ts";

interface List {
  readonly data: Record<string, unknown>[];
  readonly paginator: object;
}

/** The list of orders as the service gives it, except that some records show another total. */
function otherTotals(isOdd: (id: number) => boolean): Obstacle {
  return async ({ path }, passOn) => {
    if (path !== "/orders") return undefined;
    const reply = await passOn();
    if (typeof reply === "string") return reply;
    const answer = JSON.parse(reply.body.toString("utf8")) as List;
    const data = answer.data.map((one) =>
      isOdd(Number(one["id"])) ? { ...one, total: Number(one["total"]) + 1 } : one,
    );
    return jsonReply(200, { ...answer, data });
  };
}

const orders = { resources: ["orders", "currencies"] };
const noted = (company: Company) => count(company.file, "SELECT count(*) FROM _preview_differences");

describe("a field that lists and details show differently", () => {
  // Fault: service | lists show a field otherwise than details, for good | a proxy, for the totals of orders | a few reads, then the field is no longer compared, and each report names it
  test("costs a few reads, is then no longer compared, is named by each report, hides no other change, and is compared again once they agree", async () => {
    const company = await aCompany({ records: 240 });
    const size = truthOf(company.sandbox).get("orders")?.size ?? 0;
    expect(size).toBeGreaterThan(20);
    company.proxy.obstruct(otherTotals(() => true));
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

  test("of a few records is compared further, at one read each", async () => {
    const company = await aCompany({ records: 60 });
    const odd = new Set(serviceIds(company, "orders").slice(0, 3));
    company.proxy.obstruct(otherTotals((id) => odd.has(id)));
    await sync(company, orders);
    for (let run = 0; run < 2; run++)
      expect(await sync(company, orders)).toMatchObject({ requests: { detail: 3 }, uncompared_fields: [] });
  });
});

test("records that change between their preview and their detail do not stop the comparison", async () => {
  const company = await aCompany({ records: 60 });
  const ids = serviceIds(company, "orders");
  const remove = company.proxy.obstruct(({ path }) => {
    if (!/^.orders.\d/.test(path)) return undefined;
    remove();
    for (const id of ids) company.sandbox.control.alter("orders", id, { issueDate: "2026-11-18" });
    return undefined;
  });
  await sync(company, orders);
  expect(noted(company)).toBe(0);
  expect((await sync(company, orders)).requests.detail).toBe(0);
  const dates = look(company.file, (db) =>
    db.prepare("SELECT DISTINCT issue_date FROM orders").pluck().all(),
  );
  expect(dates).toEqual(["2026-11-18"]);
});
