import { describe, expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { readHealth } from "../../src/status/mirror-health.ts";
import { aCompany, sync, type Company } from "../support/company/company.ts";
import { jsonReply } from "../support/company/proxy.ts";
import { count, expectReplayable, look } from "../support/truth/equal.ts";
import { publish, reading, rowsOf } from "../support/export/published.ts";
import { documentTables, floorOf, truthOf } from "../support/truth/truth.ts";

/** A first run that ends when every list is read. */
async function stoppedAfterLists(company: Company): Promise<void> {
  const { lists } = floorOf(truthOf(company.sandbox));
  const report = await sync(company, { mostRequests: lists.length, concurrency: 1 });
  expect(report.outcome).toBe("stopped");
}

function health(company: Company) {
  return look(company.file, (db) => readHealth(db, manifest));
}

/** What the report says of its tables. */
function aboutOf(file: string, fact: string): Map<string, string> {
  const rows = rowsOf(reading(file), `SELECT subject, value FROM _about WHERE fact = '${fact}'`);
  return new Map(rows.map(({ subject, value }) => [String(subject), String(value)]));
}

describe("a first run that was stopped after its lists", () => {
  test("has every header, each provisional, and says so in status and report", async () => {
    const company = await aCompany();
    await stoppedAfterLists(company);
    const truth = truthOf(company.sandbox);
    const { resources } = health(company);
    for (const table of documentTables) {
      const size = truth.get(table)?.size ?? 0;
      expect(resources.find(({ name }) => name === table)).toMatchObject({
        live: size,
        expected: size,
        provisional: size,
      });
      expect(count(company.file, `SELECT count(*) FROM ${table} WHERE _detail_at IS NOT NULL`)).toBe(0);
    }
    expect(count(company.file, "SELECT count(*) FROM _raw WHERE kind = 'preview'")).toBe(
      documentTables.reduce((all, table) => all + (truth.get(table)?.size ?? 0), 0),
    );
    const sizeOf = (name: string) => truth.get(name)?.size ?? 0;
    const parents = sizeOf("clients") + sizeOf("suppliers") + sizeOf("business_cases");
    expect(resources.find(({ name }) => name === "contact_activity_logs")).toMatchObject({
      parents_never_read: parents,
    });
    expectReplayable(company);
    const { file } = await publish(company.file);
    const missing = aboutOf(file, "without_detail");
    const complete = aboutOf(file, "complete");
    const invoices = String(truth.get("invoices")?.size);
    expect([missing.get("invoices"), complete.get("invoices")]).toEqual([invoices, "no"]);
    expect([missing.get("invoice_items"), complete.get("invoice_items")]).toEqual([invoices, "no"]);
    expect([missing.get("clients"), complete.get("clients")]).toEqual(["0", "yes"]);
    expect(complete.get("document_payments")).toBe("no");
    expect(rowsOf(reading(file), "SELECT count(*) AS n FROM invoices")).toEqual([{ n: Number(invoices) }]);
    expect(rowsOf(reading(file), "SELECT * FROM v_number_gaps")).toEqual([]);
  });
});

test.each([
  ["answered", []],
  ["refused", ["quotations"]],
] as const)(
  "a first run that will take long has its report made when its last list is %s, and goes on",
  async (_, refused: readonly string[]) => {
    const company = await aCompany({ records: 610 });
    company.proxy.obstruct(({ path }) => (refused.includes(path.slice(1)) ? jsonReply(403, {}) : undefined));
    const seen: unknown[] = [];
    const onListed = async () => {
      const { resources } = health(company);
      const documents = resources.filter(({ name }) => documentTables.some((table) => table === name));
      const unread = documents.filter(({ live, expected }) => live !== expected).map(({ name }) => name);
      const provisional = documents.reduce((all, one) => all + one.provisional, 0);
      seen.push({ last: company.proxy.asked.at(-1)?.path, unread, hasMany: provisional > 500 });
    };
    const { lists } = floorOf(truthOf(company.sandbox));
    const mostRequests = lists.length + 40;
    const report = await sync(company, { onListed, mostRequests, concurrency: 1 });
    expect(seen).toEqual([{ last: "/quotations", unread: refused, hasMany: true }]);
    expect([report.outcome, report.requests.detail > 10]).toEqual(["stopped", true]);
    expect(company.said.filter((line) => line.includes("all lists are in")).length).toBe(1);
  },
);
