import { z } from "zod";
import type { PriceListItem } from "../../model/warehouse-records.ts";
import { check, expectLookups } from "../../rules/refusals.ts";
import { filled, id, number, parse, text } from "../../rules/request-shape.ts";
import type { Company } from "../company-state.ts";
import { recordWrites } from "../record-writes.ts";

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

/** Creating, replacing and removing items of the price list. */
export const priceListWrites = recordWrites("price_list_items", itemFrom);

function itemFrom({ tables }: Company, input: unknown, own: PriceListItem | null) {
  const item = filled(itemInput, parse(itemInput, input));
  check((problems) => {
    expectLookups(problems, item);
    problems.expect(!item.useWarehouse || item.warehouseCode !== null, "warehouseCode", "required");
    for (const field of ["ean", "warehouseCode"] as const) {
      const same = tables.price_list_items.findBy(field, item[field] ?? "");
      problems.expect(
        same.every((other) => other.id === own?.id),
        field,
        "unique",
      );
    }
  });
  return item;
}
