import { dateOf, momentOf, yearOf } from "../base/calendar.ts";
import { formatNumber } from "../base/identifiers.ts";
import { seededRandom, type SeededRandom } from "../base/seeded-random.ts";
import { clientSnapshot, supplierSnapshot } from "../domain/crm/contacts.ts";
import { applyLines, receiptTable, type Side } from "../domain/warehouse/receipts.ts";
import type { ReceiptLine } from "../model/warehouse-records.ts";
import { goodOf, purchaseCents, vatRateOn, warehouseCodeOf } from "./price-list-seed.ts";
import type { Plan, Seeding } from "./seed-plan.ts";

/** A place in a warehouse: item index x 8 + warehouse index. */
type Slot = number;

/** What lies where. `filled` has every slot that ever held something, in order of time. */
interface Shelves {
  readonly levels: Map<Slot, number>;
  readonly filled: Slot[];
}

/** What one receipt moves. */
interface Sheet {
  readonly warehouse: number;
  readonly moves: readonly { readonly item: number; readonly quantity: number }[];
}

/** Fills in receipts and the stock in order of time: no receipt takes more than there is. */
export function seedReceipts(seeding: Seeding): void {
  const { warehouse_inbound_receipts: inCount, warehouse_outbound_receipts: outCount } = seeding.plan.volumes;
  const shelves = { levels: new Map<Slot, number>(), filled: [] };
  for (let turn = 0; turn < Math.max(inCount, outCount); turn++) {
    if (turn < inCount) addReceipt(seeding, "inbound", turn, incoming(seeding.plan, turn, shelves));
    if (turn < outCount) addReceipt(seeding, "outbound", turn, outgoing(seeding.plan, turn, shelves));
  }
}

function incoming(plan: Plan, turn: number, { levels, filled }: Shelves): Sheet {
  const random = seededRandom(plan.seed, "inbound", turn);
  const warehouse = random.often(0.6) ? 0 : random.int(0, plan.volumes.warehouses - 1);
  const items = distinct(random, random.int(1, 4), () => stockedItem(plan, random));
  const moves = items.map((item) => {
    const quantity = random.int(5, 120);
    const slot = item * 8 + warehouse;
    if (!levels.has(slot)) filled.push(slot);
    levels.set(slot, (levels.get(slot) ?? 0) + quantity);
    return { item, quantity };
  });
  return { warehouse, moves };
}

/** From one warehouse, only what lies there; the last piece stays. */
function outgoing(plan: Plan, turn: number, { levels, filled }: Shelves): Sheet {
  const random = seededRandom(plan.seed, "outbound", turn);
  const holdsMore = (slot: Slot) => (levels.get(slot) ?? 0) > 1;
  let lead = random.pick(filled);
  for (let tries = 1; tries < 8 && !holdsMore(lead); tries++) lead = random.pick(filled);
  if (!holdsMore(lead)) lead = filled.findLast(holdsMore) ?? 0;
  const warehouse = lead % 8;
  const drawn = distinct(random, random.int(0, 3), () => random.pick(filled));
  const others = drawn.filter((slot) => slot % 8 === warehouse && slot !== lead && holdsMore(slot));
  const moves = [lead, ...others].map((slot) => {
    const level = levels.get(slot) ?? 0;
    const quantity = random.int(1, Math.max(1, Math.min(15, level - 1)));
    levels.set(slot, level - quantity);
    return { item: Math.floor(slot / 8), quantity };
  });
  return { warehouse, moves };
}

function stockedItem(plan: Plan, random: SeededRandom): number {
  const index = random.skewed(plan.volumes.price_list_items);
  return index % 5 === 4 ? index - 1 : index;
}

function distinct(random: SeededRandom, count: number, draw: () => number): number[] {
  return [...new Set(Array.from({ length: count }, draw))].slice(0, random.int(count, count));
}

function addReceipt({ plan, company }: Seeding, side: Side, index: number, sheet: Sheet): void {
  const random = seededRandom(plan.seed, `receipt-${side}`, index);
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
    lines: sheet.moves.map((move, position) => lineOf(plan, side, move, { id: id * 10 + position, day })),
    createdAtMs,
    updatedAtMs: createdAtMs,
    madeBy: null,
  }));
  applyLines(company, side, receipt, 1n);
}

function partnerOf({ plan, company }: Seeding, side: Side, random: SeededRandom) {
  const { clients, suppliers } = company.tables;
  if (random.often(0.1)) return { partnerId: null, partner: null };
  const { firstIds, volumes } = plan;
  if (side === "outbound") {
    const client = clients.get(firstIds.clients + random.skewed(volumes.clients));
    return { partnerId: client?.id ?? null, partner: client ? clientSnapshot(client) : null };
  }
  const supplier = suppliers.get(firstIds.suppliers + random.skewed(volumes.suppliers));
  return { partnerId: supplier?.id ?? null, partner: supplier ? supplierSnapshot(supplier) : null };
}

function lineOf(
  plan: Plan,
  side: Side,
  { item, quantity }: Sheet["moves"][number],
  { id, day }: { readonly id: number; readonly day: number },
): ReceiptLine {
  const good = goodOf(plan, item);
  return {
    id,
    priceListItemId: plan.firstIds.price_list_items + item,
    itemName: good.name,
    itemCode: warehouseCodeOf(item),
    unitId: good.unitId,
    quantity,
    unitPrice: (side === "inbound" ? purchaseCents(good) : good.priceCents) / 100,
    vatRate: vatRateOn(good.vatClass, yearOf(day)),
  };
}
