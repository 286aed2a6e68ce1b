import { decimal } from "../../base/decimal-money.ts";
import { discountLabel } from "../../lookups/labels.ts";
import { languageById } from "../../lookups/languages.ts";
import type { Document, DocumentKind, Item } from "../../model/company-records.ts";
import { expectLookups } from "../../rules/lookup-fields.ts";
import type { Problems } from "../../rules/refusals.ts";
import type { Company } from "../company-state.ts";
import type { ItemInput } from "./document-input.ts";

/** Checks every line by itself. Stock is checked later, for all lines together. */
export function expectItems(
  company: Company,
  problems: Problems,
  kind: DocumentKind,
  lines: readonly ItemInput[],
  own: Document | null,
): void {
  lines.forEach((line, i) => {
    const at = `items.${i}`;
    expectLookups(problems, line, `${at}.`);
    expectComplete(company, problems, line, at);
    expectDiscount(problems, line, at);
    if (hasStock(kind)) expectAllocations(company, problems, line, at);
    if (own && hasStock(kind) && line.uuid) {
      problems.expect(
        own.items.some(({ uuid }) => uuid === line.uuid),
        `${at}.uuid`,
        "exists",
      );
    }
  });
}

/** Only these two keep rows apart and move stock. */
function hasStock(kind: DocumentKind): boolean {
  return kind === "invoice" || kind === "credit-note";
}

function expectComplete(company: Company, problems: Problems, line: ItemInput, at: string): void {
  const { priceListItemId } = line;
  if (priceListItemId !== null && priceListItemId !== undefined) {
    problems.expect(company.tables.price_list_items.has(priceListItemId), `${at}.priceListItemId`, "exists");
    return;
  }
  for (const field of ["name", "unitPrice", "vatRate"] as const) {
    problems.expect((line[field] ?? null) !== null, `${at}.${field}`, "required");
  }
}

function expectDiscount(problems: Problems, line: ItemInput, at: string): void {
  const typed = (line.discountType ?? null) !== null;
  const valued = (line.discountValue ?? null) !== null;
  problems.expect(!typed || valued, `${at}.discountValue`, "required");
  problems.expect(!valued || typed, `${at}.discountType`, "required");
}

function expectAllocations(company: Company, problems: Problems, line: ItemInput, at: string): void {
  const allocations = line.warehouseAllocations ?? [];
  if (allocations.length === 0) return;
  const item = company.tables.price_list_items.get(line.priceListItemId ?? -1);
  problems.expect(item?.useWarehouse === true, `${at}.warehouseAllocations`, "not_stocked");
  allocations.forEach(({ warehouseId }, i) => {
    const known = company.tables.warehouses.has(warehouseId);
    problems.expect(known, `${at}.warehouseAllocations.${i}.warehouseId`, "exists");
  });
  const sum = allocations.reduce((total, { quantity }) => total + decimal(quantity), 0n);
  problems.expect(sum === decimal(line.quantity), `${at}.warehouseAllocations`, "allocations");
}

/** Lines as they are kept: what was left out comes from the price list, then from the defaults. */
export function itemsFrom(
  company: Company,
  kind: DocumentKind,
  lines: readonly ItemInput[],
  languageId: number,
  own: Document | null,
): Item[] {
  return lines.map((line) => itemFrom(company, kind, line, languageId, own));
}

function itemFrom(
  company: Company,
  kind: DocumentKind,
  line: ItemInput,
  languageId: number,
  own: Document | null,
): Item {
  const listed = company.tables.price_list_items.get(line.priceListItemId ?? -1);
  const same = hasStock(kind) && line.uuid ? own?.items.find(({ uuid }) => uuid === line.uuid) : undefined;
  const { discountType = null, discountValue = null } = line;
  const defaultName = discountType === null ? null : discountLabel(languageById(languageId)?.code ?? "en");
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
    allocations: hasStock(kind) ? (line.warehouseAllocations ?? []) : [],
  };
}
