/** A quantity (millionths) that came to a warehouse, or left it. */
export interface StockMove {
  readonly itemId: number;
  readonly warehouseId: number;
  readonly quantity: bigint;
}

/** How much of each item (millionths) lies in which warehouse: the sum of all receipts. */
export class Stock {
  readonly #levels = new Map<number, Map<number, bigint>>();

  /** The item's levels by warehouse id; only warehouses that ever held the item. */
  of(itemId: number): ReadonlyMap<number, bigint> {
    return this.#levels.get(itemId) ?? new Map();
  }

  level(itemId: number, warehouseId: number): bigint {
    return this.of(itemId).get(warehouseId) ?? 0n;
  }

  /** Over all warehouses. */
  total(itemId: number): bigint {
    return [...this.of(itemId).values()].reduce((sum, level) => sum + level, 0n);
  }

  move({ itemId, warehouseId, quantity }: StockMove): void {
    const places = this.#levels.get(itemId) ?? new Map<number, bigint>();
    places.set(warehouseId, (places.get(warehouseId) ?? 0n) + quantity);
    this.#levels.set(itemId, places);
  }
}
