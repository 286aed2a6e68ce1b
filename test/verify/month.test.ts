import { expect, test } from "vitest";
import type { MonthReport } from "../../src/verify/report.ts";
import { aMirroredCompany as mirrored, type Company } from "../support/company/company.ts";
import { runCommand } from "../support/program/cli.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { look } from "../support/truth/compare.ts";
import { wound } from "../support/verify/verify.ts";

async function aMirroredCompany(): Promise<Company> {
  const company = await mirrored({ records: "small" });
  writeServeConfig(company);
  return company;
}

/** Verifies a month; what it says and its exit code. */
async function verifyMonth(company: Company, month: string, ...more: string[]) {
  const { code, stdout } = await runCommand(["verify", "--month", month, "--json", ...more], {
    cwd: company.folder,
  });
  const { companies } = JSON.parse(stdout) as { companies: { acme: MonthReport } };
  return { code, report: companies.acme };
}

/** The month with the most invoices, one of them and one of its payments. */
function busyMonth(company: Company) {
  const sql = `SELECT substr(issue_date, 1, 7) AS month, count(*) AS invoices, min(i.id) AS invoice,
      min(p.id) AS payment FROM invoices i
    LEFT JOIN document_payments p ON p.document_type = 'invoice' AND p.document_id = i.id
    WHERE i._deleted_at IS NULL GROUP BY month ORDER BY payment IS NULL, invoices DESC LIMIT 1`;
  return look(
    company.file,
    (db) => db.prepare(sql).get() as { month: string; invoice: number; payment: number },
  );
}

test("a month is proved by reading each of its documents once, and little else", async () => {
  const company = await aMirroredCompany();
  const { month } = busyMonth(company);
  const { code, report } = await verifyMonth(company, month);
  expect(report.compared).toBeGreaterThan(0);
  expect(report).toMatchObject({
    match: true,
    month,
    equal: report.compared,
    differences: [],
    uncompared: [],
  });
  expect([code, report.requests <= report.compared + 5]).toEqual([0, true]);
});

test("a changed cell and a changed payment of the month are named, healed by --repair, and other months are not read", async () => {
  const company = await aMirroredCompany();
  const { month, invoice, payment } = busyMonth(company);
  wound(company, "UPDATE invoices SET note = 'not the service''s' WHERE id = ?", invoice);
  wound(company, "UPDATE document_payments SET amount = amount + 1 WHERE id = ?", payment);
  const found = await verifyMonth(company, month);
  expect(found.code).toBe(1);
  expect(found.report.equal).toBeLessThan(found.report.compared);
  expect(
    found.report.differences.map(({ resource, id, field }) => `${resource} ${id} ${field}`).toSorted(),
  ).toEqual([`document_payments ${payment} amount`, `invoices ${invoice} note`]);
  expect(found.report.requests).toBeLessThanOrEqual(found.report.compared + 5);
  const healed = await verifyMonth(company, month, "--repair");
  expect([healed.code, healed.report.match, healed.report.repaired]).toEqual([0, true, 2]);
  expect((await verifyMonth(company, month)).report.match).toBe(true);
  const other = await verifyMonth(company, "2001-01");
  expect([other.code, other.report.compared]).toEqual([0, 0]);
});

test.each([
  [["--month", "2126-01"], /has not begun yet/],
  [["--month", "2026-01", "--all"], /--month cannot be combined/],
])("verify %s is refused", async (more, said) => {
  const company = await aMirroredCompany();
  const { code, stderr } = await runCommand(["verify", ...more], { cwd: company.folder });
  expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
});
