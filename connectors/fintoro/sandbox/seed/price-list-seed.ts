import { yearOf } from "../base/calendar.ts";
import { ean13 } from "../base/identifiers.ts";
import { seededRandom } from "../base/seeded-random.ts";
import { goods, services, type VatClass } from "./sample-words.ts";
import { fill, type Plan, type Seeding } from "./seed-plan.ts";

/** The Slovak VAT rate of a year: 23/19/5 % from 2025, 20/10 % before. */
export function vatRateOn(vatClass: VatClass, year: number): number {
  if (vatClass === "zero") return 0;
  if (year >= 2025) return { standard: 23, reduced: 19, low: 5 }[vatClass];
  return vatClass === "standard" ? 20 : 10;
}

/** What is sold under an item of the price list. */
export interface Good {
  readonly name: string;
  readonly unitId: number;
  readonly priceCents: number;
  readonly vatClass: VatClass;
  readonly stocked: boolean;
}

/** The item at an index: every fifth is a service, the rest are goods in stock. */
export function goodOf(plan: Plan, index: number): Good {
  const stocked = index % 5 !== 4;
  const list = stocked ? goods : services;
  const [name, unitId, base, vatClass] = list[index % list.length] ?? list[0]!;
  const turn = Math.floor(index / list.length);
  const drift = turn === 0 ? 1 : 0.6 + seededRandom(plan.seed, "price", index).next();
  const priceCents = Math.round(base * drift);
  return { name: turn === 0 ? name : `${name} ${turn + 1}`, unitId, priceCents, vatClass, stocked };
}

export function purchaseCents({ priceCents }: Good): number {
  return Math.max(1, Math.round(priceCents * 0.62));
}

/** The article code of the stocked item at an index. */
export function warehouseCodeOf(index: number): string {
  return `SKL-${String(index + 1).padStart(4, "0")}`;
}

/** Fills in the price list. */
export function seedPriceList({ plan, company: { tables } }: Seeding): void {
  fill(tables.price_list_items, plan.volumes.price_list_items, (id, index) => {
    const good = goodOf(plan, index);
    const { name, unitId, priceCents, stocked } = good;
    const random = seededRandom(plan.seed, "item", index);
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
