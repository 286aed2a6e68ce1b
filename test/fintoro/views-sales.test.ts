import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Truth } from "../support/truth/truth.ts";
import { publishedCompany, type PublishedCompany } from "../support/export/published.ts";
import * as re from "../support/export/recount.ts";
import type { Dict } from "../support/export/recount.ts";

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
