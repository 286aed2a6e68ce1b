import { expect, test } from "vitest";
import type { MonthReport } from "../../src/verify/report.ts";
import { aMirroredCompany, type Company } from "../support/company/company.ts";
import { forbidden, jsonReply } from "../support/company/proxy.ts";
import { runCommand } from "../support/program/cli.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { look } from "../support/truth/compare.ts";
import { wound } from "../support/verify/verify.ts";

/** A company, the month with the most invoices, one of them and one of its payments. */
async function aMonth() {
  const company = writeServeConfig(await aMirroredCompany({ records: 60 }));
  const sql = `SELECT substr(issue_date, 1, 7) AS month, count(*) AS invoices, min(i.id) AS invoice,
      min(p.id) AS payment FROM invoices i
    LEFT JOIN document_payments p ON p.document_type = 'invoice' AND p.document_id = i.id
    WHERE i._deleted_at IS NULL GROUP BY month ORDER BY payment IS NULL, invoices DESC LIMIT 1`;
  const busiest = look(company.file, (db) => db.prepare(sql).get());
  return { company, ...(busiest as { month: string; invoice: number; payment: number }) };
}

/** Verifies a month; what it says and its exit code. */
async function verifyMonth(company: Company, month: string, ...more: string[]) {
  const { code, stdout } = await runCommand(["verify", "--month", month, "--json", ...more], {
    cwd: company.folder,
  });
  const { companies } = JSON.parse(stdout) as { companies: { acme: MonthReport } };
  return { code, report: companies.acme };
}

test("a month is proved by reading each of its documents once, and little else", async () => {
  const { company, month } = await aMonth();
  const { code, report } = await verifyMonth(company, month);
  expect(report.compared).toBeGreaterThan(0);
  const proved = { match: true, month, equal: report.compared, differences: [], uncompared: [] };
  expect(report).toMatchObject(proved);
  // The company, and how many invoices and credit notes are listed.
  expect([code, report.requests]).toEqual([0, report.compared + 3]);
});

test("a changed cell and a changed payment of the month are named, healed by --repair, and other months are not read", async () => {
  const { company, month, invoice, payment } = await aMonth();
  wound(company, "UPDATE invoices SET note = 'not the service''s' WHERE id = ?", invoice);
  wound(company, "UPDATE document_payments SET amount = amount + 1 WHERE id = ?", payment);
  const found = await verifyMonth(company, month);
  expect(found.code).toBe(1);
  expect(found.report.equal).toBeLessThan(found.report.compared);
  const fields = found.report.differences.map(({ resource, id, field }) => `${resource} ${id} ${field}`);
  expect(fields.toSorted()).toEqual([`document_payments ${payment} amount`, `invoices ${invoice} note`]);
  expect(found.report.requests).toBeLessThanOrEqual(found.report.compared + 5);
  const healed = await verifyMonth(company, month, "--repair");
  expect([healed.code, healed.report.match, healed.report.repaired]).toEqual([0, true, 2]);
  expect((await verifyMonth(company, month)).report.match).toBe(true);
  const other = await verifyMonth(company, "2001-01");
  expect([other.code, other.report.compared]).toEqual([0, 0]);
});

/** Documents of the service that a sync has not seen: made in the month, and moved into it from another one. */
function addUnseen({ sandbox, file }: Company, month: string): number[] {
  const { control } = sandbox;
  const sql = `SELECT id, client_id AS clientId FROM invoices WHERE issue_date NOT LIKE '${month}%'
    AND client_id IN (SELECT id FROM clients WHERE _deleted_at IS NULL) LIMIT 1`;
  const { id: moved, clientId } = look(
    file,
    (db) => db.prepare(sql).get() as { id: number; clientId: number },
  );
  control.alter("invoices", moved, { issueDate: `${month}-15` });
  const items = [{ name: "Work", quantity: 1, unitPrice: 10, vatRate: 23 }];
  const made = control.create("invoices", { clientId, issueDate: `${month}-16`, items })["id"];
  return [moved, Number(made)];
}

const kindsOf = ({ differences }: MonthReport) => [
  ...new Set(differences.map(({ resource, id, kind }) => `${resource} ${id} ${kind}`)),
];

// Fault: data | the service has documents of the month that the mirror does not have there | the lists of the month's days | each is named, and healed with --repair
test("a document that the mirror does not have in the month is named and healed", async () => {
  const { company, month } = await aMonth();
  const [moved = 0, made = 0] = addUnseen(company, month);
  const found = await verifyMonth(company, month);
  expect([found.code, kindsOf(found.report)]).toEqual([
    1,
    [`invoices ${moved} different`, `invoices ${made} missing`],
  ]);
  expect(found.report.requests).toBeLessThanOrEqual(found.report.compared + 5);
  expect((await verifyMonth(company, month, "--repair")).report).toMatchObject({ match: true, repaired: 2 });
});

// Fault: data | the service has as many documents of the month as the mirror, but others | the number that it lists is that of those read | each is named
test("as many documents as the mirror has are not taken for the same ones", async () => {
  const { company, month, invoice } = await aMonth();
  const { control } = company.sandbox;
  const other = look(company.file, (db) =>
    db.prepare("SELECT id FROM invoices WHERE issue_date NOT LIKE ? || '%'").pluck().get(month),
  );
  control.alter("invoices", invoice, { issueDate: "2001-01-15" });
  control.alter("invoices", Number(other), { issueDate: `${month}-15` });
  const { code, report } = await verifyMonth(company, month);
  const expected = [invoice, other].map((id) => `invoices ${Number(id)} different`);
  expect([code, kindsOf(report).toSorted()]).toEqual([1, expected.toSorted()]);
  expect(report.requests).toBeLessThanOrEqual(report.compared + 5);
});

test("a service that lists other days, too, costs requests for its pages only, and names nothing", async () => {
  const { company, month } = await aMonth();
  const { proxy } = company;
  proxy.obstruct(async ({ path, query, headers: { authorization = "" } }) => {
    if (!query.has("issueDateFrom")) return undefined;
    for (const param of ["issueDateFrom", "issueDateTo"]) query.delete(param);
    const answer = await fetch(`${proxy.baseUrl}${path}?${query.toString()}`, { headers: { authorization } });
    return jsonReply(answer.status, await answer.json());
  });
  expect(await verifyMonth(company, month)).toMatchObject({ code: 0, report: { match: true } });
});

// Fault: service | the list of a month's days is refused | its route | the month is not called equal, exit 3
test("a month whose list is refused is not equal: nobody knows which documents it has", async () => {
  const { company, month } = await aMonth();
  company.proxy.obstruct(({ path, query }) =>
    path === "/invoices" && query.has("issueDateFrom") ? forbidden : undefined,
  );
  const { code, report } = await verifyMonth(company, month);
  expect([code, report.match, report.differences]).toEqual([3, false, []]);
  expect(report.uncompared).toMatchObject([
    { resource: "invoices", id: null, message: expect.stringContaining("its list cannot be compared") },
  ]);
});

test.each([
  [["--month", "2126-01"], /has not begun yet/],
  [["--month", "2026-01", "--all"], /--month <month>' cannot be used/],
])("verify %s is refused", async (more, said) => {
  const { company } = await aMonth();
  const { code, stderr } = await runCommand(["verify", ...more], { cwd: company.folder });
  expect([code, stderr]).toEqual([2, expect.stringMatching(said)]);
});
