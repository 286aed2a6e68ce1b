import { describe, expect, test } from "vitest";
import { mostSweeps } from "../../src/sync/apply/listing.ts";
import { aCompany, aMirroredCompany, sync, type Company } from "../support/company/company.ts";
import { count, expectEqual, expectHealed } from "../support/truth/equal.ts";
import { get } from "../support/sandbox/sandbox.ts";
import { emptyList, invalid, jsonReply, rewritten, type Reply } from "../support/company/proxy.ts";

const invoices = { resources: ["invoices", "document_payments"] };
const deletions = "SELECT count(*) FROM _changes WHERE op = 'delete'";

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

// Fault: pagination | a total of 200,000 with repeated or empty pages, a total that grows, a next page for ever | a proxy, for invoices of a filled mirror | at most ten requests more, nothing deleted, the list is named as unsettled
describe("a paginator that lies costs a bounded number of requests, deletes nothing and is named", () => {
  const lies: Readonly<Record<string, (reply: Reply, page: number) => Reply>> = {
    "a total of 200,000, and page 1 again and again": (reply) =>
      withPaginator(reply, { totalResults: 200_000 }),
    "a total that grows with each page": (reply, page) =>
      withPaginator(reply, { totalResults: page * 10 + 1, currentPage: page, perPage: 10 }),
    "the next page for ever": (reply, page) =>
      withPaginator(reply, { currentPage: page, totalPages: page + 1, totalResults: 5_000, perPage: 10 }),
    "a total of 200,000, and empty pages": (reply, page) =>
      withPaginator(page === 1 ? reply : emptyList(reply), { currentPage: page, totalResults: 200_000 }),
    "pages that say they are another page": (reply, page) =>
      withPaginator(reply, { totalResults: 200_000, currentPage: page === 1 ? 1 : page + 1 }),
  };
  test.each(Object.entries(lies))("%s", async (_name, lie) => {
    const company = await aMirroredCompany({ records: 60 });
    company.proxy.obstruct(async ({ path, query }, passOn) =>
      path === "/invoices" ? lie(await firstPage(company, passOn), Number(query.get("page"))) : undefined,
    );
    const report = await sync(company, invoices);
    const listed = company.proxy.asked.filter(({ path }) => path === "/invoices");
    expect(listed.length).toBeLessThanOrEqual(mostSweeps + 10);
    expect(report.outcome).toBe("partial");
    expect(report.troubles).toContainEqual(
      expect.objectContaining({ resource: "invoices", kind: "unsettled" }),
    );
    expect(report.swept).not.toHaveProperty("invoices");
    expect(count(company.file, deletions)).toBe(0);
    await expectHealed(company, { ...invoices, tables: ["invoices"] });
  });
});

/** The service's answer to page 1, whatever page is asked for. */
async function firstPage(company: Company, passOn: () => Promise<Reply>): Promise<Reply> {
  const { json } = await get(company.sandbox, "/invoices?perPage=10&page=1");
  return { ...(await passOn()), body: Buffer.from(JSON.stringify(json)) };
}

function withPaginator(reply: Reply, changes: object): Reply {
  return rewritten(reply, (text) => {
    const answer = JSON.parse(text) as { paginator: object };
    return JSON.stringify({ ...answer, paginator: { ...answer.paginator, ...changes } });
  });
}
