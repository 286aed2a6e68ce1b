import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Truth } from "../support/truth.ts";
import { publishedCompany, sorted, type PublishedCompany } from "../support/published.ts";
import * as re from "../support/recount.ts";
import type { Dict } from "../support/recount.ts";

/** Deletes some of each, and the client of an invoice that stays. */
function goneFrom(truth: Truth): Record<string, string[]> {
  const ids = (table: string) => [...(truth.get(table)?.keys() ?? [])];
  const client = [...(truth.get("invoices")?.values() ?? [])].at(-1)?.json["clientId"] as number;
  return {
    invoices: ids("invoices").slice(3, 5),
    credit_notes: ids("credit_notes").slice(0, 1),
    clients: [String(client)],
  };
}

const documents = (records: re.Records) => [
  ...re.of(records, "invoices").map((json) => ({ json, type: "invoice" })),
  ...re.of(records, "credit_notes").map((json) => ({ json, type: "credit_note" })),
];
describe("sales views, compared with the service's records summed again in cents", () => {
  let company: PublishedCompany;
  let records: re.Records;
  const rows = (view: string) => company.rows(view);
  beforeAll(async () => {
    company = await publishedCompany({ records: 700, seed: 11 }, goneFrom);
    records = company.records;
  });
  afterAll(() => company.close());
  const clientName = (json: Dict) =>
    re.of(records, "clients").find(({ id }) => id === json["clientId"])?.["name"] ??
    re.part(json, "client")["name"];
  const currencyOf = (json: Dict) => re.symbolOf(records, json["currencyId"]);

  test("v_vat_by_month: every rate, the discount spread, documents' totals to the cent", () => {
    const expected = new Map<
      string,
      { documents: number; base: bigint; vat: bigint; reverse: bigint; eur: bigint[] }
    >();
    for (const { json } of documents(records)) {
      const month = re.monthOf(json["deliveryDate"] ?? json["issueDate"]);
      const items = re.parts(json, "items");
      const rates = [...new Set(items.map((item) => Number(item["vatRate"])))].toSorted((a, b) => a - b);
      const spread = (amount: bigint, field: string) => {
        const all = re.sum(items.map((item) => re.cents(item[field])));
        let reached = 0n;
        return rates.map((rate) => {
          const before = reached;
          reached += re.sum(
            items.filter((item) => item["vatRate"] === rate).map((item) => re.cents(item[field])),
          );
          return re.divided(amount * reached, all) - re.divided(amount * before, all);
        });
      };
      const [net, gross] = [re.cents(json["total"]), re.cents(json["totalWithVat"])];
      const [netEuro, grossEuro] = [net, gross].map((amount) => re.euro(amount, json["currencyRate"])) as [
        bigint,
        bigint,
      ];
      const [nets, grosses] = [spread(net, "total"), spread(gross, "totalWithVat")];
      const [netEuros, grossEuros] = [spread(netEuro, "total"), spread(grossEuro, "totalWithVat")];
      rates.forEach((rate, i) => {
        const key = [month, currencyOf(json), rate].join(" ");
        const row = expected.get(key) ?? { documents: 0, base: 0n, vat: 0n, reverse: 0n, eur: [0n, 0n, 0n] };
        const [base, vat] = [nets[i] ?? 0n, (grosses[i] ?? 0n) - (nets[i] ?? 0n)];
        const [baseEuro, vatEuro] = [netEuros[i] ?? 0n, (grossEuros[i] ?? 0n) - (netEuros[i] ?? 0n)];
        const reversed = json["transferTaxLiability"] === true;
        expected.set(key, {
          documents: row.documents + 1,
          base: row.base + (reversed ? 0n : base),
          vat: row.vat + vat,
          reverse: row.reverse + (reversed ? base : 0n),
          eur: [
            (row.eur[0] ?? 0n) + (reversed ? 0n : baseEuro),
            (row.eur[1] ?? 0n) + vatEuro,
            (row.eur[2] ?? 0n) + (reversed ? baseEuro : 0n),
          ],
        });
      });
    }
    const found = rows("v_vat_by_month");
    expect(sorted(found)).toEqual(
      sorted(
        [...expected].map(([key, row]) => ({
          month: key.split(" ")[0] ?? "",
          currency: key.split(" ")[1] ?? "",
          vat_rate: Number(key.split(" ")[2]),
          documents: row.documents,
          base: re.units(row.base),
          base_eur: re.units(row.eur[0] ?? 0n),
          vat: re.units(row.vat),
          vat_eur: re.units(row.eur[1] ?? 0n),
          reverse_charge: re.units(row.reverse),
          reverse_charge_eur: re.units(row.eur[2] ?? 0n),
        })),
      ),
    );
    for (const [currency, all] of re.grouped(documents(records), ({ json }) => currencyOf(json))) {
      const mine = found.filter((row) => row["currency"] === currency);
      const net = re.sum(mine.flatMap((row) => [re.cents(row["base"]), re.cents(row["reverse_charge"])]));
      expect(net).toBe(re.sum(all.map(({ json }) => re.cents(json["total"]))));
      const gross = net + re.sum(mine.map((row) => re.cents(row["vat"])));
      expect(gross).toBe(re.sum(all.map(({ json }) => re.cents(json["totalWithVat"]))));
    }
  });

  test("v_sales_lines: every line as printed; a document's lines add up to its total", () => {
    const found = rows("v_sales_lines");
    const byDocument = re.grouped(found, (row) => [row["document_type"], row["document_id"]].join(" "));
    expect(byDocument.size).toBe(documents(records).length);
    for (const { json, type } of documents(records)) {
      const lines = byDocument.get(`${type} ${String(json["id"])}`) ?? [];
      const items = re.parts(json, "items");
      expect(lines.map((row) => [row["position"], row["name"], row["total"], row["total_with_vat"]])).toEqual(
        items.map((item, i) => [i, item["name"], item["total"], item["totalWithVat"]]),
      );
      const added = (column: string) =>
        re.sum(
          lines.flatMap((row) => [
            re.cents(row[column]),
            re.cents(row[column.replace("revenue", "receipted_advances")]),
          ]),
        );
      const [net, gross] = [re.cents(json["total"]), re.cents(json["totalWithVat"])];
      expect([added("revenue"), added("revenue_with_vat")]).toEqual([net, gross]);
      expect([added("revenue_eur"), added("revenue_with_vat_eur")]).toEqual([
        re.euro(net, json["currencyRate"]),
        re.euro(gross, json["currencyRate"]),
      ]);
      expect(lines[0]).toMatchObject({
        client_id: json["clientId"],
        client_name: clientName(json),
        document_number: json["number"],
        price_list_item_id: items[0]?.["priceListItemId"] ?? null,
        currency: currencyOf(json),
      });
    }
  });
});
