import { dateOf, momentOf, yearOf } from "../base/calendar.ts";
import { ean13, formatNumber } from "../base/identifiers.ts";
import { randomFor, type SeededRandom } from "../base/seeded-random.ts";
import { clientSnapshot, supplierSnapshot } from "../domain/crm/contact-rules.ts";
import { applyLines, receiptTable, type Side } from "../domain/warehouse/receipts.ts";
import { goods, services, type VatClass } from "./sample-words.ts";
import { fill, type Plan, type Seeding } from "./seed-plan.ts";

/** The Slovak VAT rate of a year: 23/19/5 % from 2025, 20/10 % before. */
export function vatRateOn(vatClass: VatClass, year: number): number {
  if (vatClass === "zero") return 0;
  if (year >= 2025) return { standard: 23, reduced: 19, low: 5 }[vatClass];
  return vatClass === "standard" ? 20 : 10;
}

/** What is sold under the item at an index: every fifth is a service, the rest are goods in stock. */
export function goodOf(plan: Plan, index: number) {
  const stocked = index % 5 !== 4;
  const list = stocked ? goods : services;
  const [name, unitId, base, vatClass] = list[index % list.length] ?? list[0]!;
  const turn = Math.floor(index / list.length);
  const drift = turn === 0 ? 1 : 0.6 + randomFor(plan.seed, "price", index).next();
  const priceCents = Math.round(base * drift);
  return { name: turn === 0 ? name : `${name} ${turn + 1}`, unitId, priceCents, vatClass, stocked };
}

/** What the goods were bought for. */
function purchaseCents({ priceCents }: { readonly priceCents: number }): number {
  return Math.max(1, Math.round(priceCents * 0.62));
}

/** The article code of the stocked item at an index. */
function warehouseCodeOf(index: number): string {
  return `SKL-${String(index + 1).padStart(4, "0")}`;
}

/** Fills in the price list. */
export function seedPriceList({ plan, company: { tables } }: Seeding): void {
  fill(tables.price_list_items, plan.volumes.price_list_items, (id, index) => {
    const good = goodOf(plan, index);
    const { name, unitId, priceCents, stocked } = good;
    const random = randomFor(plan.seed, "item", index);
    const vatRate = vatRateOn(good.vatClass, yearOf(plan.today));
    const bought = stocked || random.often(0.2);
    return {
      id,
      name,
      description: random.often(0.3) ? `Katalógové č. ${index + 1}\n„${name}“` : null,
      unitId,
      unitPrice: priceCents / 100,
      vatRate,
      ean: stocked && random.often(0.8) ? ean13(index + 1) : null,
      useWarehouse: stocked,
      warehouseCode: stocked ? warehouseCodeOf(index) : null,
      enableNegativeStock: stocked && index % 17 === 3,
      maxStock: stocked && random.often(0.4) ? random.int(20, 500) : null,
      purchasePrice: bought ? purchaseCents(good) / 100 : null,
      purchaseVatRate: bought ? vatRate : null,
    };
  });
}

/** What one receipt moves, by the indexes of warehouse and items. */
interface Sheet {
  readonly warehouse: number;
  readonly moves: readonly { readonly item: number; readonly quantity: number }[];
}

/**
 * Fills in receipts and the stock. Each outbound receipt takes a part of what the inbound receipt of the same
 * day brought, so that no receipt takes more than there is.
 */
export function seedReceipts(seeding: Seeding): void {
  const { plan } = seeding;
  for (let index = 0; index < plan.volumes.warehouse_inbound_receipts; index++) {
    const incoming = incomingSheet(plan, index);
    addReceipt(seeding, "inbound", index, incoming);
    addReceipt(seeding, "outbound", index, outgoingSheet(plan, index, incoming));
  }
}

function incomingSheet({ seed, volumes }: Plan, index: number): Sheet {
  const random = randomFor(seed, "inbound", index);
  const warehouse = random.often(0.6) ? 0 : random.int(0, volumes.warehouses - 1);
  const drawn = Array.from({ length: random.int(1, 4) }, () => random.skewed(volumes.price_list_items));
  // Every fifth item is a service.
  const items = new Set(drawn.map((item) => (item % 5 === 4 ? item - 1 : item)));
  return { warehouse, moves: Array.from(items, (item) => ({ item, quantity: random.int(5, 120) })) };
}

function outgoingSheet({ seed }: Plan, index: number, { warehouse, moves }: Sheet): Sheet {
  const random = randomFor(seed, "outbound", index);
  const taken = moves.slice(0, random.int(1, moves.length));
  const part = (quantity: number) => random.int(1, Math.min(15, quantity - 1));
  return { warehouse, moves: taken.map(({ item, quantity }) => ({ item, quantity: part(quantity) })) };
}

function addReceipt({ plan, company }: Seeding, side: Side, index: number, sheet: Sheet): void {
  const random = randomFor(plan.seed, `receipt-${side}`, index);
  const table = receiptTable(company, side);
  const count = plan.volumes[`warehouse_${side}_receipts`];
  const day = plan.firstDay + Math.floor(((index + 1) / count) * (plan.today - 1 - plan.firstDay));
  const warehouseId = plan.firstIds.warehouses + sheet.warehouse;
  const pattern = company.tables.warehouses.get(warehouseId)?.[`${side}NumericalSeriesPattern`] ?? "";
  const createdAtMs = momentOf(day, random.int(400, 1100));
  const receipt = table.add((id) => ({
    id,
    uuid: random.uuid(),
    number: formatNumber(pattern, day, index + 1),
    company: plan.company,
    warehouseId,
    ...partnerOf({ plan, company }, side, random),
    languageId: 1,
    issueDate: dateOf(day),
    note: random.often(0.2) ? "Chýba dodací list; doplniť." : null,
    lines: sheet.moves.map(({ item, quantity }, position) => {
      const good = goodOf(plan, item);
      return {
        id: id * 10 + position,
        priceListItemId: plan.firstIds.price_list_items + item,
        itemName: good.name,
        itemCode: warehouseCodeOf(item),
        unitId: good.unitId,
        quantity,
        unitPrice: (side === "inbound" ? purchaseCents(good) : good.priceCents) / 100,
        vatRate: vatRateOn(good.vatClass, yearOf(day)),
      };
    }),
    createdAtMs,
    updatedAtMs: createdAtMs,
    madeBy: null,
  }));
  applyLines(company, side, receipt, 1n);
}

/** Nine of ten receipts have a partner. */
function partnerOf({ plan, company }: Seeding, side: Side, random: SeededRandom) {
  const { firstIds, volumes } = plan;
  const { clients, suppliers } = company.tables;
  const isNamed = random.often(0.9);
  const client = clients.get(firstIds.clients + random.skewed(volumes.clients));
  const supplier = suppliers.get(firstIds.suppliers + random.skewed(volumes.suppliers));
  if (!isNamed || !client || !supplier) return { partnerId: null, partner: null };
  return side === "inbound"
    ? { partnerId: supplier.id, partner: supplierSnapshot(supplier) }
    : { partnerId: client.id, partner: clientSnapshot(client) };
}
