import { dateOf } from "../base/calendar.ts";
import { decimal, toNumber } from "../base/decimal-money.ts";
import { nextReceiptNumber, type Side } from "../domain/warehouse/receipts.ts";
import { Missing } from "../rules/refusals.ts";
import type { Hand } from "./actor.ts";

/** A whole piece or more of something, and where it lies; null where nothing lies. */
export function placeWithStock({ company, chance }: Hand) {
  const piece = decimal(1);
  const places = [...company.tables.price_list_items.values()]
    .filter(({ useWarehouse }) => useWarehouse)
    .flatMap(({ id }) =>
      [...company.stock.of(id)].map(([warehouseId, level]) => ({ id, warehouseId, level })),
    )
    .filter(({ level, warehouseId }) => level >= piece && company.tables.warehouses.has(warehouseId));
  if (places.length === 0) return null;
  const { id, warehouseId, level } = chance.pick(places);
  const most = Math.min(5, Math.floor(toNumber(level)));
  return { priceListItemId: id, warehouseId, quantity: chance.int(1, most) };
}

function receipt({ company }: Hand, side: Side, warehouseId: number) {
  const place = company.tables.warehouses.get(warehouseId);
  if (!place) throw new Missing();
  const issueDate = dateOf(company.settings.today);
  return { number: nextReceiptNumber(company, side, place), warehouseId, languageId: 1, issueDate };
}

/** Goods come in: of one item, or of any that is kept on stock. */
export function stockIn(hand: Hand, itemId: number | null): number {
  const { company, chance } = hand;
  const stocked = [...company.tables.price_list_items.values()].filter(({ useWarehouse }) => useWarehouse);
  if (itemId === null && stocked.length === 0) throw new Missing();
  const priceListItemId = itemId ?? chance.pick(stocked).id;
  const suppliers = [...company.tables.suppliers.ids()];
  const supplierId = suppliers.length > 0 ? chance.pick(suppliers) : null;
  const items = [{ priceListItemId, quantity: chance.int(1, 40), unitPrice: 1.5, vatRate: 23 }];
  const head = receipt(hand, "inbound", hand.any("warehouses"));
  return hand.create("warehouse_inbound_receipts", { ...head, supplierId, items });
}

export function stockOut(hand: Hand): number {
  const place = placeWithStock(hand);
  if (!place) throw new Missing();
  const { priceListItemId, quantity, warehouseId } = place;
  const items = [{ priceListItemId, quantity, unitPrice: 2.5, vatRate: 23 }];
  const head = receipt(hand, "outbound", warehouseId);
  return hand.create("warehouse_outbound_receipts", { ...head, clientId: hand.any("clients"), items });
}
