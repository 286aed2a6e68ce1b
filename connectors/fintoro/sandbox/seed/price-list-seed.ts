import { seededRandom } from "../base/seeded-random.ts";
import type { PriceListItem } from "../model/company-records.ts";
import { ean13 } from "../base/identifiers.ts";
import type { Plan } from "./seed-plan.ts";
import { goods, services, type VatClass } from "./sample-words.ts";

/** Slovak rates of a day: 23/19/5 from 2025, 20/10 before. */
export function vatRateOn(vatClass: VatClass, year: number): number {
  if (vatClass === "zero") return 0;
  if (year >= 2025) return { standard: 23, reduced: 19, low: 5 }[vatClass];
  return vatClass === "standard" ? 20 : 10;
}

export interface Good {
  readonly name: string;
  readonly unitId: number;
  readonly priceCents: number;
  readonly vatClass: VatClass;
  readonly stocked: boolean;
}

/** Every fifth item is a service, the rest are goods on stock. */
export function goodOf(plan: Plan, index: number): Good {
  const stocked = index % 5 !== 4;
  const list = stocked ? goods : services;
  const [name, unitId, base, vatClass] = list[index % list.length] ?? list[0]!;
  const turn = Math.floor(index / list.length);
  const drift = turn === 0 ? 1 : 0.6 + seededRandom(plan.seed, "price", index).next();
  return {
    name: turn === 0 ? name : `${name} ${turn + 1}`,
    unitId,
    priceCents: Math.round(base * drift),
    vatClass,
    stocked,
  };
}

export function seededItem(plan: Plan, id: number): PriceListItem {
  const index = id - plan.firstIds.price_list_items;
  const good = goodOf(plan, index);
  const random = seededRandom(plan.seed, "item", index);
  const vatRate = vatRateOn(good.vatClass, new Date(plan.today * 86_400_000).getUTCFullYear());
  const bought = good.stocked || random.often(0.2);
  return {
    id,
    name: good.name,
    description: random.often(0.3) ? `Katalógové č. ${index + 1}\n„${good.name}“` : null,
    unitId: good.unitId,
    unitPrice: good.priceCents / 100,
    vatRate,
    ean: good.stocked && random.often(0.8) ? ean13(index + 1) : null,
    useWarehouse: good.stocked,
    warehouseCode: good.stocked ? `SKL-${String(index + 1).padStart(4, "0")}` : null,
    enableNegativeStock: good.stocked && index % 17 === 3,
    maxStock: good.stocked && random.often(0.4) ? random.int(20, 500) : null,
    purchasePrice: bought ? purchaseCents(good) / 100 : null,
    purchaseVatRate: bought ? vatRate : null,
  };
}

export function purchaseCents(good: Good): number {
  return Math.max(1, Math.round(good.priceCents * 0.62));
}
