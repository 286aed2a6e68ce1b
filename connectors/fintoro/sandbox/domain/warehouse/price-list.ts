import { z } from "zod";
import type { PriceListItem } from "../../model/warehouse-records.ts";
import { expectLookups } from "../../rules/lookup-fields.ts";
import { check } from "../../rules/refusals.ts";
import { filled, id, number, parse, text } from "../../rules/request-shape.ts";
import { addRecord, removeRecord, saveRecord, type Company } from "../company-state.ts";

const itemInput = z.object({
  name: text().min(1),
  description: text(1000).nullish(),
  unitPrice: number(),
  unitId: id(),
  vatRate: number(0, 23),
  ean: text().nullish(),
  useWarehouse: z.boolean().default(false),
  warehouseCode: text().nullish(),
  enableNegativeStock: z.boolean().default(false),
  maxStock: number(0).nullish(),
  purchasePrice: number().nullish(),
  purchaseVatRate: number(0, 23).nullish(),
});

function itemFrom(company: Company, input: unknown, own: number | null): Omit<PriceListItem, "id"> {
  const item = filled(itemInput, parse(itemInput, input));
  const { price_list_items: table } = company.tables;
  check((problems) => {
    expectLookups(problems, item);
    problems.expect(!item.useWarehouse || item.warehouseCode !== null, "warehouseCode", "required");
    for (const field of ["ean", "warehouseCode"] as const) {
      const same = item[field] === null ? [] : table.findBy(field, item[field]);
      problems.expect(
        same.every((other) => other.id === own),
        field,
        "unique",
      );
    }
  });
  return item;
}

export function createItem(company: Company, input: unknown): PriceListItem {
  return addRecord(company, "price_list_items", itemFrom(company, input, null));
}

/** Replaces the whole item. */
export function updateItem(company: Company, { id: own }: PriceListItem, input: unknown): PriceListItem {
  return saveRecord(company, "price_list_items", { id: own, ...itemFrom(company, input, own) });
}

export function deleteItem(company: Company, item: PriceListItem): void {
  removeRecord(company, "price_list_items", item);
}
