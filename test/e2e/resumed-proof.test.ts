import { describe, expect, test } from "vitest";
import { aMirroredCompany, sync, type Company } from "../support/company/company.ts";
import { count, expectEqual, expectTombstonesTrue } from "../support/truth/equal.ts";
import { jsonReply } from "../support/company/proxy.ts";
import { truthOf } from "../support/truth/truth.ts";

const live = "SELECT count(*) FROM orders WHERE _deleted_at IS NULL";
const orders = ({ sandbox }: Company) => [...(truthOf(sandbox).get("orders")?.keys() ?? [])].map(Number);

/** A company with a deleted order: its list was read without it, and the run was stopped before its own route was. */
async function stoppedBeforeProof(): Promise<Company> {
  const company = await aMirroredCompany({ records: 60 });
  const [gone = 0] = orders(company);
  company.sandbox.control.remove("orders", gone);
  const stop = new AbortController();
  company.proxy.obstruct(({ path }) => {
    if (path === `/orders/${gone}`) stop.abort();
    return undefined;
  });
  expect((await sync(company, { signal: stop.signal })).outcome).toBe("interrupted");
  company.recover();
  return company;
}

/** A run, and the paths below `/orders` that it asked for. */
async function resume(company: Company) {
  const from = company.proxy.asked.length;
  const report = await sync(company);
  const paths = company.proxy.asked.slice(from).map(({ path }) => path);
  return { report, lists: paths.filter((path) => path === "/orders"), details: paths.filter(isOrder) };
}

const isOrder = (path: string) => /^.orders.\d/.test(path);

describe("a run that goes on where another was stopped", () => {
  // Fault: service | a run is resumed, and the records that its list showed last were deleted | the sandbox, between a stopped run and the next | the list is read again, so that their 404 proves something (I5)
  test("reads a list again whose last records are gone, so that their 404 proves something (I5)", async () => {
    const company = await stoppedBeforeProof();
    for (const id of orders(company)) company.sandbox.control.remove("orders", id);
    const { report, lists } = await resume(company);
    expect(report).toMatchObject({ outcome: "complete", resumed: true, troubles: [] });
    expect(lists).toHaveLength(1);
    expect(count(company.file, live)).toBe(0);
    expectTombstonesTrue(company);
    await sync(company);
    expectEqual(company);
  });

  // Fault: service | a run is resumed, and the route is broken for all records | a proxy, between a stopped run and the next | the list is read once and none is deleted (I5)
  test("reads it once where the route is broken for all records, and deletes none (I5)", async () => {
    const company = await stoppedBeforeProof();
    const before = count(company.file, live);
    const missing = jsonReply(404, { message: "No query results for model." });
    company.proxy.obstruct(({ path }) => (isOrder(path) ? missing : undefined));
    const { report, lists, details } = await resume(company);
    expect(report).toMatchObject({ outcome: "partial", resumed: true });
    expect(JSON.stringify(report.troubles)).toContain("so 404 proves nothing");
    expect(lists).toHaveLength(1);
    expect(details.length).toBeLessThan(20);
    expect(count(company.file, live)).toBe(before);
  });
});
