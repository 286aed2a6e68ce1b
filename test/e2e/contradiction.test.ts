import { expect, test } from "vitest";
import { runCommand } from "../support/program/cli.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { aCompany, fastClock, sync, type Company } from "../support/company/company.ts";
import { jsonReply, type Obstacle } from "../support/company/proxy.ts";
import { expectEqual, expectHealed } from "../support/truth/equal.ts";

const documents = "invoices credit-notes proformas orders quotations business-cases";
const lists = `${documents} warehouse-inbound-receipts warehouse-outbound-receipts`.split(" ");
const tables = lists.map((name) => name.replaceAll("-", "_"));
const paths = lists.map((name) => `/${name}`);

const paginator = { currentPage: 2, perPage: 10, totalPages: 5, totalResults: 42, nextPageUrl: null };

/** A static mock of eight lists: whatever page is asked for, page 2 of 5 comes. */
const samePage: Obstacle = ({ path }) =>
  paths.includes(path) ? jsonReply(200, { data: [{ id: 1 }], paginator }) : undefined;

const askedOf = ({ proxy }: Company, path: string) => proxy.asked.filter((one) => one.path === path).length;

// Fault: pagination | eight lists answer 200 with the same wrong page, whatever page is asked for | a loopback server before the service, like a static mock | each list is tried 5 times and set aside with what was wrong, exit 3, everything else is read, and no outage is claimed
test("lists that always answer the same page are tried five times and set aside, the rest is read, and the service is not said to be away", async () => {
  const clock = fastClock();
  const company = await aCompany();
  company.proxy.obstruct(samePage);
  const begunMs = clock.monotonicMs();
  const report = await sync(company, { clock });
  expect(report.outcome).toBe("partial");
  expect(clock.monotonicMs() - begunMs).toBeLessThan(2 * 60_000);
  expect(paths.map((path) => askedOf(company, path))).toEqual(paths.map(() => 5));
  expect(company.said.filter((line) => line.includes("no usable answer"))).toEqual([]);
  const wrong = report.troubles.filter(({ kind }) => kind === "dead");
  expect(new Set(wrong.map(({ resource }) => resource))).toEqual(new Set(tables));
  expect(wrong.find(({ resource }) => resource === "orders")).toMatchObject({
    message:
      "GET /orders?page=1 returned page 2, 5 times: the list was not read in this run (exit 3), the rest was",
    hint: "If it persists, report request id req-proxy to the service.",
    requestId: "req-proxy",
  });
  expectEqual(company, { tables: ["clients", "suppliers", "price_list_items", "bank_accounts"] });
  writeServeConfig(company);
  const { stdout } = await runCommand(["status"], { cwd: company.folder });
  expect(stdout).toMatch(/orders.*page 1.*GET \/orders\?page=1 returned page 2/);
  await expectHealed(company);
});
