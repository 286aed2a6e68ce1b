/** A quantity (millionths) that came to a warehouse, or left it. */
export interface StockMove {
  readonly itemId: number;
  readonly warehouseId: number;
  readonly quantity: bigint;
}

/**
 * How much of each item lies where: the sum of all receipts, kept as they come and go. Counted from
 * the seeds at the first question.
 */
export class Stock {
  readonly #opening: () => Iterable<StockMove>;
  #levels: Map<number, Map<number, bigint>> | null = null;

  constructor(opening: () => Iterable<StockMove>) {
    this.#opening = opening;
  }

  level(itemId: number, warehouseId: number): bigint {
    return this.#counted().get(itemId)?.get(warehouseId) ?? 0n;
  }

  /** By warehouse id; only warehouses that ever held the item. */
  of(itemId: number): ReadonlyMap<number, bigint> {
    return this.#counted().get(itemId) ?? new Map();
  }

  total(itemId: number): bigint {
    return [...this.of(itemId).values()].reduce((sum, level) => sum + level, 0n);
  }

  move(step: StockMove): void {
    add(this.#counted(), step);
  }

  #counted(): Map<number, Map<number, bigint>> {
    if (this.#levels) return this.#levels;
    this.#levels = new Map();
    for (const step of this.#opening()) add(this.#levels, step);
    return this.#levels;
  }
}

function add(levels: Map<number, Map<number, bigint>>, { itemId, warehouseId, quantity }: StockMove): void {
  const places = levels.get(itemId) ?? new Map<number, bigint>();
  places.set(warehouseId, (places.get(warehouseId) ?? 0n) + quantity);
  levels.set(itemId, places);
}
