import { z } from "zod";
import type { PriceListItem } from "../../model/company-records.ts";
import { expectLookups } from "../../rules/lookup-fields.ts";
import { Problems } from "../../rules/refusals.ts";
import { id, number, parse, text } from "../../rules/request-shape.ts";
import type { Company } from "../company-state.ts";
import { emit } from "../emit.ts";

const itemInput = z.object({
  name: text().min(1),
  description: text(1000).nullish(),
  unitPrice: number(),
  unitId: id(),
  vatRate: number(0, 23),
  ean: text().nullish(),
  useWarehouse: z.boolean().optional(),
  warehouseCode: text().nullish(),
  enableNegativeStock: z.boolean().optional(),
  maxStock: number(0).nullish(),
  purchasePrice: number().nullish(),
  purchaseVatRate: number(0, 23).nullish(),
});

function itemFrom(company: Company, input: unknown, own: number | null): Omit<PriceListItem, "id"> {
  const sent = parse(itemInput, input);
  const { ean = null, warehouseCode = null, useWarehouse = false } = sent;
  const problems = new Problems();
  expectLookups(problems, sent);
  problems.expect(!useWarehouse || warehouseCode !== null, "warehouseCode", "required");
  if (ean !== null) expectFree(company, problems, own, "ean", ean);
  if (warehouseCode !== null) expectFree(company, problems, own, "warehouseCode", warehouseCode);
  problems.settle();
  return {
    name: sent.name,
    description: sent.description ?? null,
    unitId: sent.unitId,
    unitPrice: sent.unitPrice,
    vatRate: sent.vatRate,
    ean,
    useWarehouse,
    warehouseCode,
    enableNegativeStock: sent.enableNegativeStock ?? false,
    maxStock: sent.maxStock ?? null,
    purchasePrice: sent.purchasePrice ?? null,
    purchaseVatRate: sent.purchaseVatRate ?? null,
  };
}

function expectFree(
  company: Company,
  problems: Problems,
  own: number | null,
  field: "ean" | "warehouseCode",
  value: string,
): void {
  for (const item of company.tables.price_list_items.values()) {
    if (item.id !== own && item[field] === value) {
      problems.add(field, "unique");
      return;
    }
  }
}

export function createItem(company: Company, input: unknown): PriceListItem {
  const facts = itemFrom(company, input, null);
  const item = company.tables.price_list_items.add((newId) => ({ id: newId, ...facts }));
  emit(company, "price_list_items", "created", item.id);
  return item;
}

export function updateItem(company: Company, item: PriceListItem, input: unknown): PriceListItem {
  const saved = company.tables.price_list_items.replace({
    id: item.id,
    ...itemFrom(company, input, item.id),
  });
  emit(company, "price_list_items", "updated", item.id);
  return saved;
}

export function deleteItem(company: Company, item: PriceListItem): void {
  company.tables.price_list_items.remove(item.id);
  emit(company, "price_list_items", "deleted", item.id);
}
