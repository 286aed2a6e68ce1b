import { expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import words from "../../connectors/fintoro/slovak.json" with { type: "json" };
import { translatedHeading, type Translation } from "../../src/connector/translation.ts";
import { deletedRecords, tablesOfConnector, viewTable } from "../../src/store/snapshot/snapshot-tables.ts";
import { exportOf } from "../support/export/export.ts";
import { openHasty } from "../support/mirror/mirror.ts";

const slovak: Translation = words;
const { sheets: always = [], changes } = declaration.monthPackage ?? {};
const sheets = [...always, ...Object.values(changes?.sheets ?? {}).map((sheet) => ({ ...sheet, sql: "" }))];
const tables = [...tablesOfConnector(declaration), ...sheets.map(viewTable), deletedRecords];

test("every table, column and known value has Slovak words", () => {
  const missing = tables.flatMap(({ name, columns }) => [
    ...(slovak.titles[name] === undefined ? [name] : []),
    ...columns.flatMap((column) => (translatedHeading(slovak, column.name) === null ? [column.name] : [])),
    ...columns.flatMap((column) =>
      (column.values ?? []).filter((value) => slovak.values[column.name]?.[value] === undefined),
    ),
  ]);
  expect(missing).toEqual([]);
});

test("a heading made of parts is that of the whole rest, where it has one", () => {
  const headings = ["client_vat_id", "company_subject_id", "client_country_id", "currency_id", "total_eur"];
  const translated = headings.map((name) => translatedHeading(slovak, name)).join(", ");
  expect(translated).toBe(
    "Odberateľ: IČ DPH, Firma: IČO, Odberateľ: krajina (ID), Mena (ID), Spolu bez DPH v EUR",
  );
});

test("no table has two columns of one heading, titles are names of sheets, and no word is left over", () => {
  for (const { name, columns } of tables) {
    const headings = columns.map((column) => translatedHeading(slovak, column.name));
    const twice = headings.filter((heading, at) => headings.indexOf(heading) !== at);
    expect([name, twice]).toEqual([name, []]);
  }
  expect(Object.values(slovak.titles).filter((title) => title.length > 31)).toEqual([]);
  const names = new Set(tables.map(({ name }) => name));
  expect(Object.keys(slovak.titles).filter((name) => !names.has(name))).toEqual([]);
});

test("an export in Slovak has its headings and values, in English it is as without a language", async () => {
  const mirror = await openHasty({ declaration });
  mirror.db.exec(
    "INSERT INTO invoices (id, number, client_name, has_vat, status, total, _synced_at) VALUES (1, '0001', 'paid', 1, 'paid', 2, ''), (2, 'x', null, 0, 'new', null, '')",
  );
  const csvOf = async (language: "en" | "sk") => {
    const { cells } = await exportOf(mirror, { tables: ["invoices"], language });
    const [head = [], ...rows] = cells("invoices.csv");
    return rows.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at]])));
  };
  expect(await csvOf("sk")).toMatchObject([
    { Číslo: "0001", "Odberateľ: názov": "paid", "S DPH": "áno", Stav: "uhradená", "Spolu bez DPH": "2" },
    { Číslo: "x", "S DPH": "nie", Stav: "new" },
  ]);
  const paid = { number: "0001", has_vat: "true", status: "paid" };
  expect(await csvOf("en")).toMatchObject([paid, { status: "new" }]);
});
