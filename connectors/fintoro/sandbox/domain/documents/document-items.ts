import { decimal } from "../../base/decimal-money.ts";
import { discountLabel } from "../../lookups/labels.ts";
import { languageById } from "../../lookups/languages.ts";
import { kindFacts } from "../../model/catalogue.ts";
import type { Item } from "../../model/company-records.ts";
import { expectLookups } from "../../rules/lookup-fields.ts";
import type { Problems } from "../../rules/refusals.ts";
import type { Company } from "../company-state.ts";
import type { DocumentWrite, ItemInput } from "./document-input.ts";

/** Checks every line by itself. Stock is checked later, for all lines together. */
export function expectItems(problems: Problems, { company, kind, sent, own }: DocumentWrite): void {
  for (const [i, line] of sent.items.entries()) {
    const at = `items.${i}`;
    expectLookups(problems, line, `${at}.`);
    expectComplete(company, problems, line, at);
    expectDiscount(problems, line, at);
    if (!kindFacts[kind].movesStock) continue;
    expectAllocations(company, problems, line, at);
    const known = !own || !line.uuid || own.items.some(({ uuid }) => uuid === line.uuid);
    problems.expect(known, `${at}.uuid`, "exists");
  }
}

/** A line without a price-list item needs a name, a price and a VAT rate. */
function expectComplete({ tables }: Company, problems: Problems, line: ItemInput, at: string): void {
  const { priceListItemId = null } = line;
  if (priceListItemId !== null) {
    problems.expect(tables.price_list_items.has(priceListItemId), `${at}.priceListItemId`, "exists");
    return;
  }
  for (const field of ["name", "unitPrice", "vatRate"] as const) {
    problems.expect((line[field] ?? null) !== null, `${at}.${field}`, "required");
  }
}

function expectDiscount(problems: Problems, line: ItemInput, at: string): void {
  const { discountType = null, discountValue = null } = line;
  problems.expect(discountType === null || discountValue !== null, `${at}.discountValue`, "required");
  problems.expect(discountValue === null || discountType !== null, `${at}.discountType`, "required");
}

/** The warehouses exist, the item is kept in stock, and the parts add up to the line's quantity. */
function expectAllocations({ tables }: Company, problems: Problems, line: ItemInput, at: string): void {
  const field = `${at}.warehouseAllocations`;
  const { warehouseAllocations: allocations } = line;
  if (!allocations) return;
  const item = tables.price_list_items.get(line.priceListItemId ?? -1);
  problems.expect(item?.useWarehouse === true, field, "not_stocked");
  for (const [i, { warehouseId }] of allocations.entries()) {
    problems.expect(tables.warehouses.has(warehouseId), `${field}.${i}.warehouseId`, "exists");
  }
  const sum = allocations.reduce((total, { quantity }) => total + decimal(quantity), 0n);
  problems.expect(sum === decimal(line.quantity), field, "allocations");
}

/** Lines as they are kept: what was left out comes from the price list, then from the defaults. */
export function itemsFrom(write: DocumentWrite, languageId: number): Item[] {
  return write.sent.items.map((line) => itemFrom(write, line, languageId));
}

function itemFrom({ company, kind, own }: DocumentWrite, line: ItemInput, languageId: number): Item {
  const { movesStock } = kindFacts[kind];
  const listed = company.tables.price_list_items.get(line.priceListItemId ?? -1);
  const same = movesStock && line.uuid ? own?.items.find(({ uuid }) => uuid === line.uuid) : undefined;
  const { discountType = null, discountValue = null } = line;
  const defaultName = discountType === null ? null : discountLabel(languageById(languageId).code);
  return {
    id: same?.id ?? company.settings.nextPartId++,
    uuid: same?.uuid ?? company.random.uuid(),
    name: line.name ?? listed?.name ?? "",
    description: line.description ?? listed?.description ?? null,
    unitPrice: line.unitPrice ?? listed?.unitPrice ?? 0,
    unitId: line.unitId ?? listed?.unitId ?? 1,
    quantity: line.quantity,
    vatRate: line.vatRate ?? listed?.vatRate ?? 0,
    discountName: line.discountName ?? defaultName,
    discountType,
    discountValue,
    priceListItemId: line.priceListItemId ?? null,
    allocations: movesStock ? (line.warehouseAllocations ?? []) : [],
  };
}
