import { itemShape, type PriceListItem } from "../../model/warehouse-records.ts";
import { check, expectLookups } from "../../rules/refusals.ts";
import { filled, parse } from "../../rules/request-shape.ts";
import type { Company } from "../company-state.ts";
import { recordWrites } from "../record-writes.ts";

/** Creating, replacing and removing items of the price list. */
export const priceListWrites = recordWrites("price_list_items", itemFrom);

function itemFrom({ tables }: Company, input: unknown, own: PriceListItem | null) {
  const item = filled(itemShape, parse(itemShape, input));
  check((problems) => {
    expectLookups(problems, item);
    problems.expect(!item.useWarehouse || item.warehouseCode !== null, "warehouseCode", "required");
    for (const field of ["ean", "warehouseCode"] as const) {
      problems.expectUnique(field, tables.price_list_items.findBy(field, item[field] ?? ""), own);
    }
  });
  return item;
}
