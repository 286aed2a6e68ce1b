import { expect, test } from "vitest";
import type { MonthFindings } from "../../src/verify/findings.ts";
import { aMirroredCompany, sync, type Company } from "../support/company/company.ts";
import { forbidden, jsonReply } from "../support/company/proxy.ts";
import { runCommand } from "../support/program/cli.ts";
import { writeServeConfig } from "../support/program/serve.ts";
import { look, unreplayable } from "../support/truth/compare.ts";
import { wound, liveIds, named, verify } from "../support/verify/verify.ts";
import { expectEqual, expectTombstonesTrue } from "../support/truth/equal.ts";
import { documentTables, truthOf } from "../support/truth/truth.ts";
import { fakturoid } from "../../connectors/fakturoid/declaration.ts";
import { invoices } from "../../connectors/fakturoid/resources/invoices-and-expenses.ts";
import { silentLog } from "../../src/base/logger.ts";
import type { ServiceRequest } from "../../src/connector/transport.ts";
import { Tally } from "../../src/sync/context/tally.ts";
import { batchRetryPolicy } from "../../src/retry/retry-policies.ts";
import { ServiceCopy } from "../../src/verify/service-copy.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { stillClock } from "../support/mirror/run.ts";
import { answerOf } from "../support/mirror/whole-run.ts";

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

async function verifyMonth(company: Company, month: string, ...more: string[]) {
  const { code, stdout } = await runCommand(["verify", "--month", month, "--json", ...more], {
    cwd: company.folder,
  });
  const { companies } = JSON.parse(stdout) as { companies: { acme: MonthFindings } };
  return { code, report: companies.acme };
}

test("a month is proved by reading each of its documents once; a changed cell and a changed payment are named, healed by --repair, and other months are not read", async () => {
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
  const { code, report } = await verifyMonth(company, month);
  expect(report.compared).toBeGreaterThan(0);
  const proved = { match: true, month, equal: report.compared, differences: [], uncompared: [] };
  expect(report).toMatchObject(proved);
  // The company, and how many invoices and credit notes are listed.
  expect([code, report.requests]).toEqual([0, report.compared + 3]);
  const other = await verifyMonth(company, "2001-01");
  expect([other.code, other.report.compared]).toEqual([0, 0]);
});

/** Documents of the service that a sync has not seen: made in the month, and moved into it from another one. */
function addUnseen({ sandbox, file }: Company, month: string): number[] {
  const { control } = sandbox;
  const sql = `SELECT id, client_id AS clientId FROM invoices WHERE issue_date NOT LIKE '${month}%'
    AND client_id IN (SELECT id FROM clients WHERE _deleted_at IS NULL) LIMIT 1`;
  const found = look(file, (db) => db.prepare(sql).get());
  const { id: moved, clientId } = found as { id: number; clientId: number };
  control.alter("invoices", moved, { issueDate: `${month}-15` });
  const items = [{ name: "Work", quantity: 1, unitPrice: 10, vatRate: 23 }];
  const made = control.create("invoices", { clientId, issueDate: `${month}-16`, items })["id"];
  return [moved, Number(made)];
}

const kindsOf = ({ differences }: MonthFindings) => [
  ...new Set(differences.map(({ resource, id, kind }) => `${resource} ${id} ${kind}`)),
];

// Fault: data | the service has documents of the month that the mirror does not have there | the lists of the month's days | each is named, and healed with --repair
test("a document that the mirror does not have in the month is named and healed", async () => {
  const { company, month } = await aMonth();
  const [moved = 0, made = 0] = addUnseen(company, month);
  const found = await verifyMonth(company, month);
  const unseen = [`invoices ${moved} different`, `invoices ${made} missing`];
  expect([found.code, kindsOf(found.report)]).toEqual([1, unseen]);
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

test("a month of which the config leaves a kind of documents out is not called equal, and says so", async () => {
  const { company, month } = await aMonth();
  writeServeConfig(company, "resources: { exclude: [invoices] }");
  const { code, report } = await verifyMonth(company, month);
  const uncompared = [{ resource: "invoices", id: null, message: "the config leaves it out" }];
  expect([code, report]).toMatchObject([3, { match: false, differences: [], uncompared }]);
  writeServeConfig(company, "resources: { exclude: [credit_notes, document_payments] }");
  const other = await verifyMonth(company, month);
  expect(other.report.compared).toBeGreaterThan(0);
  // Those with payments, too.
  expect([other.code, other.report.equal]).toEqual([3, other.report.compared]);
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

/**
 * I2: the change log gives the live rows. A row that was planted is deleted without an insert before, what is healed may
 * have its JSON already, and what a lost record was before, nobody knows.
 */
function expectReplayedToEnd({ file }: Company, lost: readonly string[] = []): void {
  const ofHealing = /: (?:delete where it cannot be|(?:delete|update) that changes nothing)$/;
  const lines = unreplayable(file).filter((line) => !ofHealing.test(line));
  expect(lines.filter((line) => !lost.includes(line.split(":")[0] ?? ""))).toEqual([]);
}

/** By kind, what is named, and what it does to a record of $t with child rows in $c, which name it in $k. */
const kinds: Readonly<Record<string, readonly [named: string, ...steps: readonly string[]]>> = {
  "typed cell": ["different number", "UPDATE $t SET number = number || ' wrong' WHERE id = ?"],
  "child row": ["different $c[0].quantity", "UPDATE $c SET quantity = 12345.5 WHERE $k = ? AND position = 0"],
  "missing child row": ["different $c[0]", "DELETE FROM $c WHERE $k = ?"],
  "missing row": ["missing", "DELETE FROM $t WHERE id = ?"],
  "missing record": [
    "missing",
    ...["$t", "_raw_$t", "_fence_$t"].map((table) => `DELETE FROM ${table} WHERE id = ?`),
    "DELETE FROM $c WHERE $k = ?",
  ],
  "missing JSON": ["extra", "DELETE FROM _raw_$t WHERE id = ?"],
  "wrong JSON": [
    "different _raw.number",
    "UPDATE _raw_$t SET json = json_set(json, '$.number', 'wrong') WHERE id = ?",
  ],
  "stale row": [
    "different number",
    "UPDATE $t SET number = 'old' WHERE id = ?",
    "UPDATE _raw_$t SET json = json_set(json, '$.number', 'old') WHERE id = ?",
  ],
  "false tombstone": [
    "tombstoned",
    "UPDATE $t SET _deleted_at = '2026-01-01T00:00:00.000Z' WHERE id = ?",
    "UPDATE _fence_$t SET gone = 1, sha = NULL, listed_sha = NULL WHERE id = ?",
    "DELETE FROM $c WHERE $k = ?",
  ],
  "resurrected tombstone": [
    "extra",
    "UPDATE $t SET _deleted_at = NULL WHERE id = ?",
    "UPDATE _fence_$t SET gone = 0 WHERE id = ?",
    "INSERT INTO $c ($k, position) VALUES (?, 0)",
  ],
  "extra row": [
    "extra",
    "INSERT INTO $t (id, number, _synced_at, _detail_at) VALUES (? + 900000, 'x', 'x', 'x')",
  ],
  "missing fence": [
    "different number",
    "UPDATE $t SET number = 'wrong' WHERE id = ?",
    "DELETE FROM _fence_$t WHERE id = ?",
  ],
};

/** Wounds three documents in each way; gives kinds, and what is named of which: `invoices 17`. Some must be deleted orders. */
function woundMany(company: Company, deleted: readonly number[]) {
  const dead = deleted.map((id) => ({ table: "orders", id }));
  const live = documentTables.flatMap((table) => {
    const owner = table.slice(0, -1);
    const ids = liveIds(company, table, `id IN (SELECT ${owner}_id FROM ${owner}_items)`);
    return ids.map((id) => ({ table, id }));
  });
  return Object.entries(kinds).flatMap(([kind, texts]) =>
    (kind === "resurrected tombstone" ? dead : live.splice(0, 3)).map(({ table, id }) => {
      const owner = table.slice(0, -1);
      const [what = "", ...steps] = texts.map((text) =>
        text.replaceAll("$t", table).replaceAll("$c", `${owner}_items`).replaceAll("$k", `${owner}_id`),
      );
      for (const sql of steps) wound(company, sql, id);
      return { kind, record: `${table} ${kind === "extra row" ? id + 900_000 : id}`, what };
    }),
  );
}

// Fault: data | three of each kind of wounds of cells, rows, tombstones and JSON | SQL on the mirror, compared with the service | each is named, and healed with --repair (I11)
test("names each of 36 planted wounds, and --repair heals them all (I2, I5, I11)", async () => {
  const company = await aMirroredCompany({ records: 60 });
  const deleted = liveIds(company, "orders").slice(-3);
  for (const id of deleted) company.sandbox.control.remove("orders", id);
  await sync(company);
  const wounded = woundMany(company, deleted);
  const { report, code } = await verify(company, ["--sample", "0"]);
  // The first of each record: all its child rows may be missing.
  const found = Map.groupBy(named(report), (line) => line.split(" ").slice(0, 2).join(" "));
  expect(Array.from(found.values(), ([first = ""]) => first).toSorted()).toEqual(
    wounded.map(({ record, what }) => `${record} ${what}`).toSorted(),
  );
  expect(code).toBe(1);
  const id = Number(wounded[0]?.record.split(" ")[1]);
  const number = truthOf(company.sandbox).get("invoices")?.get(String(id))?.json["number"] as string;
  const difference = { id, field: "number", mirror: `${number} wrong`, service: number };
  expect(report.resources["invoices"]?.different).toContainEqual(difference);
  const repaired = await verify(company, ["--all", "--repair"]);
  expect(named(repaired.report)).toEqual([]);
  expect(repaired.report.repair?.repaired).toBe(36);
  expect([repaired.code, repaired.report.match]).toEqual([0, true]);
  expectEqual(company);
  const lost = wounded.flatMap(({ kind, record }) => (/missing (?:record|JSON)/.test(kind) ? record : []));
  expectReplayedToEnd(company, lost);
  expectTombstonesTrue(company);
});

test("--repair heals records without a route, payments, CRM events and rows of deleted records", async () => {
  const company = await aMirroredCompany();
  const [payment] = liveIds(company, "document_payments");
  const [log] = liveIds(company, "contact_activity_logs");
  const [order] = liveIds(company, "orders");
  company.sandbox.control.remove("orders", order ?? 0);
  await sync(company);
  wound(company, "UPDATE orders SET _deleted_at = NULL WHERE id = ?", order);
  wound(company, "INSERT INTO order_items (order_id, position) VALUES (?, 5)", order);
  wound(company, "UPDATE countries SET name = 'Nowhere' WHERE id = 4");
  wound(company, "INSERT INTO countries (id, name, _synced_at) VALUES (990001, 'Atlantis', 'x')");
  wound(company, "DELETE FROM units WHERE id = (SELECT min(id) FROM units)");
  wound(company, "UPDATE company SET name = 'another'");
  wound(company, "UPDATE document_payments SET amount = amount + 1, document_id = 1 WHERE id = ?", payment);
  wound(company, "UPDATE contact_activity_logs SET type = 'wrong' WHERE id = ?", log);
  const { report, code } = await verify(company, ["--repair"]);
  expect(Object.keys(report.repair?.found ?? {}).toSorted()).toEqual([
    "company",
    "contact_activity_logs",
    "countries",
    "document_payments",
    "orders",
    "units",
  ]);
  expect([code, named(report), report.uncompared]).toEqual([0, [], []]);
  expectEqual(company);
  expectReplayedToEnd(company);
});

/** A service whose list of invoices shows on each page what `page` says, and what `verify` reads of it. */
async function readInvoices(page: (number: number) => readonly { readonly id: number }[]) {
  const pages: number[] = [];
  const send = async ({ query }: ServiceRequest) => {
    pages.push(Number(query?.["page"]));
    if (pages.length > 50) throw new Error("it does not end");
    return answerOf(page(pages.at(-1) ?? 0));
  };
  const { signal } = new AbortController();
  const [clock, log, tally] = [stillClock, silentLog, new Tally()];
  const waiting = { clock, log, tally, patienceMs: 0, ended: signal };
  const policy = batchRetryPolicy(waiting, async () => null);
  const parts = { clock, log, signal, concurrency: 1, transport: { send } };
  const shown = { ...parts, declaration: fakturoid, resources: [invoices] };
  const copy = new ServiceCopy(`${tempFolder()}/shown.db`, shown, tally, policy);
  await copy.readLists([invoices]);
  const read = { pages, ids: copy.ids("invoices").size, isWhole: copy.isWhole("invoices") };
  copy.close();
  return read;
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ id: from + i }));

test("a list without a total is read once, to its last page", async () => {
  const read = await readInvoices((page) => numbered(1 + (page - 1) * 40, Math.min(1 + page * 40, 91)));
  expect(read).toEqual({ pages: [1, 2, 3], ids: 90, isWhole: true });
});

// Fault: pagination | every page repeats the first one | a list without a total, in verify | it ends after a few requests, and the list does not count as whole
test("a list without a total whose pages repeat is given up, and does not count as shown whole", async () => {
  const { pages, ids, isWhole } = await readInvoices(() => numbered(1, 41));
  expect({ ids, isWhole }).toEqual({ ids: 40, isWhole: false });
  expect(pages.length).toBeLessThan(10);
});
