import { seededRandom, type SeededRandom } from "../base/seeded-random.ts";
import { dateOf, momentOf, yearOf } from "../base/calendar.ts";
import { formatNumber } from "../base/document-numbers.ts";
import type { Receipt, ReceiptLine } from "../model/company-records.ts";
import { goodOf, purchaseCents, vatRateOn } from "./price-list-seed.ts";
import { seededWarehouses } from "./settings-seed.ts";
import { seededClient, seededSupplier } from "./contact-seed.ts";
import type { Plan } from "./seed-plan.ts";
import { snapshotOf } from "./document-seed.ts";

type Side = "inbound" | "outbound";

/** One line of a receipt, as compact as it gets. */
interface Move {
  readonly item: number;
  readonly quantity: number;
}

interface Sheet {
  readonly warehouse: number;
  readonly moves: readonly Move[];
}

/**
 * All seeded goods movements. They are told once, in order of time, because what may leave depends
 * on what came before: no seeded receipt takes more than there is.
 */
export interface Movements {
  readonly inbound: readonly Sheet[];
  readonly outbound: readonly Sheet[];
}

export function movementsOf(plan: Plan): Movements {
  const levels = new Map<number, number>();
  const filled: number[] = [];
  const { warehouse_inbound_receipts: inCount, warehouse_outbound_receipts: outCount } = plan.volumes;
  const inbound: Sheet[] = [];
  const outbound: Sheet[] = [];
  for (let turn = 0; turn < Math.max(inCount, outCount); turn++) {
    if (turn < inCount) inbound.push(receive(plan, turn, levels, filled));
    if (turn < outCount) outbound.push(release(plan, turn, levels, filled));
  }
  return { inbound, outbound };
}

function receive(plan: Plan, turn: number, levels: Map<number, number>, filled: number[]): Sheet {
  const random = seededRandom(plan.seed, "inbound", turn);
  const warehouse = warehouseOf(plan, random);
  const moves = distinct(random, random.int(1, 4), () => stockedItem(plan, random)).map((item) => {
    const quantity = random.int(5, 120);
    const slot = item * 8 + warehouse;
    if (!levels.has(slot)) filled.push(slot);
    levels.set(slot, (levels.get(slot) ?? 0) + quantity);
    return { item, quantity };
  });
  return { warehouse, moves };
}

/** From one warehouse, only what lies there; the last piece stays. */
function release(plan: Plan, turn: number, levels: Map<number, number>, filled: readonly number[]): Sheet {
  const random = seededRandom(plan.seed, "outbound", turn);
  const lead = findFull(random, levels, filled);
  const warehouse = lead % 8;
  const others = distinct(random, random.int(0, 3), () => random.pick(filled)).filter(
    (slot) => slot % 8 === warehouse && slot !== lead && (levels.get(slot) ?? 0) > 1,
  );
  const moves = [lead, ...others].map((slot) => {
    const quantity = random.int(1, Math.max(1, Math.min(15, (levels.get(slot) ?? 0) - 1)));
    levels.set(slot, (levels.get(slot) ?? 0) - quantity);
    return { item: Math.floor(slot / 8), quantity };
  });
  return { warehouse, moves };
}

/** Slots on which more than one piece lies; the receipt just before always left one such. */
function findFull(
  random: SeededRandom,
  levels: ReadonlyMap<number, number>,
  filled: readonly number[],
): number {
  for (let tries = 0; tries < 8; tries++) {
    const slot = random.pick(filled);
    if ((levels.get(slot) ?? 0) > 1) return slot;
  }
  return filled.findLast((slot) => (levels.get(slot) ?? 0) > 1) ?? 0;
}

function warehouseOf(plan: Plan, random: SeededRandom): number {
  return random.often(0.6) ? 0 : random.int(0, plan.volumes.warehouses - 1);
}

function stockedItem(plan: Plan, random: SeededRandom): number {
  const index = random.skewed(plan.volumes.price_list_items);
  return index % 5 === 4 ? index - 1 : index;
}

function distinct(random: SeededRandom, count: number, draw: () => number): number[] {
  return [...new Set(Array.from({ length: count }, draw))].slice(0, random.int(count, count));
}

export function seededReceipt(plan: Plan, movements: Movements, side: Side, id: number): Receipt {
  const table = side === "inbound" ? "warehouse_inbound_receipts" : "warehouse_outbound_receipts";
  const index = id - plan.firstIds[table];
  const sheet = movements[side][index] ?? { warehouse: 0, moves: [] };
  const random = seededRandom(plan.seed, `receipt-${side}`, index);
  const day =
    plan.firstDay + Math.floor(((index + 1) / plan.volumes[table]) * (plan.today - 1 - plan.firstDay));
  const warehouse = seededWarehouses(plan)[sheet.warehouse];
  const pattern =
    side === "inbound" ? warehouse?.inboundNumericalSeriesPattern : warehouse?.outboundNumericalSeriesPattern;
  const createdAtMs = momentOf(day, random.int(400, 1100));
  const first = id * 10;
  return {
    id,
    uuid: random.uuid(),
    number: formatNumber(pattern ?? "(CCCC)", { year: yearOf(day), month: 1, counter: index + 1 }),
    company: plan.company,
    warehouseId: plan.firstIds.warehouses + sheet.warehouse,
    ...partnerOf(plan, side, random),
    languageId: 1,
    issueDate: dateOf(day),
    note: random.often(0.2) ? "Chýba dodací list; doplniť." : null,
    lines: sheet.moves.map((move, position) => lineOf(plan, side, move, first + position, yearOf(day))),
    createdAtMs,
    updatedAtMs: createdAtMs,
    madeBy: null,
  };
}

function partnerOf(plan: Plan, side: Side, random: SeededRandom): Pick<Receipt, "partnerId" | "partner"> {
  if (random.often(0.1)) return { partnerId: null, partner: null };
  if (side === "outbound") {
    const client = seededClient(plan, plan.firstIds.clients + random.skewed(plan.volumes.clients));
    return { partnerId: client.id, partner: snapshotOf(client) };
  }
  const {
    id,
    createdAtMs: _c,
    updatedAtMs: _u,
    ...partner
  } = seededSupplier(plan, plan.firstIds.suppliers + random.skewed(plan.volumes.suppliers));
  return { partnerId: id, partner };
}

function lineOf(plan: Plan, side: Side, move: Move, id: number, year: number): ReceiptLine {
  const good = goodOf(plan, move.item);
  return {
    id,
    priceListItemId: plan.firstIds.price_list_items + move.item,
    itemName: good.name,
    itemCode: `SKL-${String(move.item + 1).padStart(4, "0")}`,
    unitId: good.unitId,
    quantity: move.quantity,
    unitPrice: (side === "inbound" ? purchaseCents(good) : good.priceCents) / 100,
    vatRate: vatRateOn(good.vatClass, year),
  };
}
