import { expect, test } from "vitest";
import { aCompany, sync } from "../support/company/company.ts";
import { expectEqual } from "../support/truth/equal.ts";
import { get } from "../support/sandbox/sandbox.ts";
import { invalid, jsonReply } from "../support/company/proxy.ts";

const larger = (most: number) => invalid("perPage", `The per page field must not be greater than ${most}.`);

// Fault: pagination | ties are shuffled in every page, and the order is refused | the sandbox and a proxy, for invoices | complete once each record was shown
// Fault: pagination | records are added at the end while a list is read | the sandbox, between two pages | the tail is read again, not the whole list
// Fault: pagination | pages are smaller than asked for | a proxy, for orders | the list is complete
test("lists that shuffle ties, grow at their end or have smaller pages are complete once each record was shown; an append costs the tail", async () => {
  const company = await aCompany({ records: 120 });
  const { control } = company.sandbox;
  const [clientId] = [...(control.snapshot().get("clients")?.keys() ?? [])];
  const before = Number(control.snapshot().get("business_cases")?.size);
  const [perPage, appended] = [2, 3];
  company.suffer({ kind: "shuffled_ties", match: { path: "/invoices" } });
  company.proxy.obstruct(async ({ path, query }, passOn) => {
    const asked = Number(query.get("perPage") ?? 0);
    if (path === "/orders" && asked > 7) {
      const smaller = `/orders?perPage=7&page=${query.get("page")}&sortBy=number`;
      return jsonReply(200, (await get(company.sandbox, smaller)).json);
    }
    if (path === "/invoices" && query.has("sortBy")) return invalid("sortBy");
    if (path === "/invoices" && asked > 20) return larger(20);
    if (path !== "/business-cases") return undefined;
    if (asked > perPage) return larger(perPage);
    if (query.get("page") !== "3") return undefined;
    const reply = await passOn();
    for (let i = 0; i < appended; i++) control.create("business_cases", { name: `Prípad ${i}`, clientId });
    return reply;
  });
  expect(before).toBeGreaterThan(3 * perPage);
  expect(await sync(company, { concurrency: 1 })).toMatchObject({ outcome: "complete", troubles: [] });
  const pages = company.proxy.asked.filter(
    ({ path, query }) => path === "/business-cases" && query.get("perPage") === String(perPage),
  );
  expect(pages.length).toBeLessThanOrEqual(Math.ceil((before + appended) / perPage) + 1);
  expectEqual(company);
});
