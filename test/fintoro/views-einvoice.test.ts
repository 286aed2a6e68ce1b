import { afterAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/store/database.ts";
import { questions } from "../../connectors/fintoro/report/questions.ts";
import { docs } from "../support/docs/docs.ts";
import { emptySummary, publishedCompany, rowsOf } from "../support/export/published.ts";
import * as re from "../support/export/recount.ts";
import type { Row } from "../support/export/recount.ts";
import { testDay as today } from "../support/sandbox/control.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { billsOf, money, ofAdvance } from "./oracle/books.ts";
import { brokenRules, draftOf, partyFields, type Party } from "./oracle/einvoice-draft.ts";

const bills = ["invoice", "credit_note"] as const;
const yearBefore = `${Number(today.slice(0, 4)) - 1}${today.slice(4)}`;
const goodTexts = "Dobrá|12345678|2020123456|SK2020123456|Hlavná 1|Žilina|01001|a@b.example|SK".split("|");
const good = Object.fromEntries(partyFields.map((field, at) => [field, goodTexts[at]])) as Party;
const goodLine = { name: "x", unit_id: 1, vat_rate: 23 };

/** What columns are damaged to, beside blanks. */
type Damages = Readonly<Record<string, readonly Row[string][]>>;
const ofParty: Damages = {
  ...Object.fromEntries(partyFields.filter((field) => field !== "country").map((field) => [field, [" "]])),
  tax_id: ["SK2020123456", "123"],
  vat_id: ["XX123", "2020123456", "sk2020123456", "SK123", "EL123456789", "US123", "XI123"],
};
const ofDocument: Damages = {
  transfer_tax_liability: [0, 1, 1, 1],
  note: ["Prenesenie", "x"],
  text_above_items: [" "],
  delivery_date: [],
  client_vat_id: [],
  client_subject_id: [" "],
  company_vat_id: [],
};
const ofLines: Damages = { unit_id: [99], name: [" "], vat_rate: [0] };
const random = seededRandom(27);

describe("v_einvoice_gaps, compared with drafts that the published rules judge", async () => {
  const company = await publishedCompany({ records: 1_000, seed: 8 });
  const db = openDatabase(company.file);
  const seen = new Set<string>();
  afterAll(() => {
    db.close();
    company.close();
  });
  const rows = (sql: string) => rowsOf(db, sql);

  function damage(table: string, where: string, share: number, damages: Damages): void {
    for (const [column, others] of Object.entries(damages)) {
      if (random.next() >= share) continue;
      const value = [null, null, ...others][Math.floor(random.next() * (others.length + 2))];
      db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${where}`).run(value);
    }
  }

  /** The rules that the view calls broken, in order, by the key of its rows. */
  function called(where: string, keyOf: (row: Row) => string): (key: string) => string[] {
    const found = rows(`SELECT * FROM v_einvoice_gaps WHERE ${where}`);
    for (const row of found) seen.add(`${row["term"]} ${row["severity"]}`);
    const failing = found.filter(({ severity }) => severity === "fails");
    const byKey = Map.groupBy(failing, keyOf);
    return (key) => (byKey.get(key) ?? []).map(({ rule }) => String(rule)).toSorted();
  }

  test("turnover is what was invoiced in the last twelve months, by client and of all", () => {
    const books = { records: company.records, today };
    const isReceipt = ofAdvance(books);
    const recent = billsOf(books).filter((one) => String(one["issueDate"]) > yearBefore && !isReceipt(one));
    const byClient = Map.groupBy(recent, (json) => String(json["clientId"]));
    const found = rows(
      "SELECT DISTINCT client_id AS id, turnover_eur FROM v_einvoice_gaps WHERE document IS NULL",
    );
    for (const { id, turnover_eur: turnover } of found) {
      const behind = id === null ? recent : (byClient.get(String(id)) ?? []);
      const euros = behind.map((json) => re.euro(money(json, "total").cents, json["currencyRate"]));
      expect(turnover).toBeCloseTo(re.units(re.sum(euros)), 6);
    }
    expect(found.length).toBeGreaterThan(30);
  });

  test("names for each document the rules that its draft breaks, and none of an older one", () => {
    for (const bill of bills)
      for (const { id } of rows(`SELECT id FROM ${bill}s`)) {
        damage(`${bill}s`, `id = ${id}`, 0.3, ofDocument);
        damage(`${bill}s`, `id = ${id} AND transfer_tax_liability`, 0.1, { company_tax_id: [] });
        damage(`${bill}_items`, `${bill}_id = ${id} AND position = 0`, 0.1, ofLines);
        damage(`${bill}_items`, `${bill}_id = ${id}`, 0.1, { vat_rate: [0] });
      }
    const broken = called("document IS NOT NULL", (row) => `${row["document"]} ${row["document_id"]}`);
    const counts = { passing: 0, failing: 0 };
    for (const bill of bills)
      for (const document of rows(`SELECT * FROM ${bill}s`)) {
        const isRecent = String(document["issue_date"]) > yearBefore;
        const lines = rows(`SELECT * FROM ${bill}_items WHERE ${bill}_id = ${document["id"]}`);
        const given = (column: string) => (document[column] ?? null) as string | null;
        const seller = { ...good, vat_id: given("company_vat_id"), tax_id: given("company_tax_id") };
        const buyer = { ...good, vat_id: given("client_vat_id"), subject_id: given("client_subject_id") };
        const expected = isRecent ? brokenRules(draftOf(document, lines, seller, buyer)) : [];
        const key = `${bill}s ${document["id"]}`;
        expect([key, ...broken(key)]).toEqual([key, ...expected]);
        if (isRecent) counts[expected.length > 0 ? "failing" : "passing"]++;
      }
    expect(Math.min(counts.passing, counts.failing)).toBeGreaterThan(50);
  });

  test("names for each client the rules that its draft breaks: none called ready fails, none called failing passes", () => {
    for (const { id } of rows("SELECT id FROM clients"))
      damage("clients", `id = ${id}`, 0.2, { ...ofParty, country_id: [] });
    db.exec("UPDATE clients SET street = ' ', city = NULL, zip = '', country_id = NULL WHERE id % 11 = 0");
    const broken = called("party = 'client'", (row) => String(row["client_id"]));
    const counts = { passing: 0, failing: 0 };
    for (const client of rows(
      "SELECT k.*, s.code AS country FROM clients k LEFT JOIN countries s ON s.id = k.country_id",
    )) {
      const expected = brokenRules(draftOf({}, [goodLine], good, client as unknown as Party));
      expect([client["id"], ...broken(String(client["id"]))]).toEqual([client["id"], ...expected]);
      counts[expected.length > 0 ? "failing" : "passing"]++;
    }
    expect(Math.min(counts.passing, counts.failing)).toBeGreaterThan(30);
  });

  test("names the rules that the company's newest document breaks", () => {
    const newest = "SELECT * FROM invoices ORDER BY issue_date DESC, id DESC LIMIT 1";
    db.exec("DELETE FROM credit_notes");
    const { id, has_vat: hasVat } = rows(newest)[0] ?? {};
    const columns = partyFields.filter((field) => field !== "name");
    const ofCompany = Object.fromEntries(columns.map((one) => [`company_${one}`, ofParty[one] ?? [" "]]));
    for (let turn = 0; turn < 40; turn++) {
      for (const field of columns)
        db.prepare(`UPDATE invoices SET company_${field} = ? WHERE id = ?`).run(good[field], id);
      damage("invoices", `id = ${id}`, 0.3, ofCompany);
      const document = rows(newest)[0] ?? {};
      const own = Object.fromEntries(columns.map((field) => [field, document[`company_${field}`]]));
      const seller = { ...good, ...own } as Party;
      const draft = draftOf({}, [{ ...goodLine, vat_rate: hasVat ? 23 : 0 }], seller, good);
      const expected = brokenRules(draft).filter((rule) => rule !== "BR-CO-04");
      expect(called("party = 'company' AND document IS NULL", () => "")("")).toEqual(expected);
    }
  });

  test("every term was seen with each of its severities, and the accountant's page has it with its rule", () => {
    const certain =
      "country electronic_address line_name name reverse_charge_numbers reverse_charge_reason street subject_id unit vat_category vat_id";
    const possible =
      "buyer_reference city delivery_date electronic_address reverse_charge_reason street subject_id tax_id vat_id zip";
    expect([...seen].toSorted()).toEqual(
      [
        ...certain.split(" ").map((term) => `${term} fails`),
        ...possible.split(" ").map((term) => `${term} hint`),
      ].toSorted(),
    );
    const page = (docs.get("docs/accountant.md") ?? "").split("\n");
    const unexplained = rows("SELECT DISTINCT term, rule FROM v_einvoice_gaps").filter(
      ({ term, rule }) =>
        !page.some(
          (line) => line.includes(`\`${term}\``) && line.includes(String(rule).split("-").at(-1) ?? ""),
        ),
    );
    expect(unexplained).toEqual([]);
  });
});

test("a person with blank numbers is a consumer, and not counted as not ready", () => {
  const db = emptySummary();
  db.exec("INSERT INTO clients (id, name, type, subject_id, tax_id) VALUES (1, 'A', 'person', '', ' ')");
  db.exec("INSERT INTO clients (id, name, type, subject_id, tax_id) VALUES (2, 'B', 'person', '', '123')");
  const { sql = "" } = questions.find(({ name }) => name === "einvoice_readiness") ?? {};
  expect(rowsOf(db, sql)).toMatchObject([{ clients: 1 }]);
});

test("the clients that are not ready are counted before their turnover is known, without a share", () => {
  const { inStatus } = questions.find(({ name }) => name === "einvoice_readiness") ?? {};
  expect(inStatus?.({ clients: 2, percent: null })).toMatch(/^2 clients are not ready for electronic/);
});
