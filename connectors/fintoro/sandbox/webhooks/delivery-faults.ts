import { seededRandom } from "../base/seeded-random.ts";

/** Shares from 0 to 1 of what goes wrong between the service and its receivers. */
export interface DeliveryShares {
  /** Sent a second time, a moment later. */
  readonly duplicates: number;
  /** Never sent at all. */
  readonly losses: number;
  /** Held back while later ones overtake. */
  readonly reorder: number;
}

export const faithful: DeliveryShares = { duplicates: 0, losses: 0, reorder: 0 };

/** What is held back is held this long at most. */
const holdMs = { least: 20, most: 250 };

/** Decides what becomes of each delivery: the n-th of a company has the same fate for the same seed and shares. */
export class Mischief {
  readonly #seed: number;
  #shares = faithful;
  #count = 0;

  constructor(seed: number, shares: Partial<DeliveryShares>) {
    this.#seed = seed;
    this.change(shares);
  }

  change(shares: Partial<DeliveryShares>): void {
    for (const [name, share] of Object.entries(shares)) {
      if (!(share >= 0 && share <= 1)) throw new RangeError(`${name} is a share from 0 to 1, not ${share}`);
    }
    this.#shares = { ...this.#shares, ...shares };
  }

  /** How long each copy is held back; none for what is lost. */
  next(): readonly number[] {
    const chance = seededRandom(this.#seed, "delivery", this.#count++);
    const [lost, doubled, held] = [chance.next(), chance.next(), chance.next()];
    const [hold, doubleHold] = [chance.int(holdMs.least, holdMs.most), chance.int(holdMs.least, holdMs.most)];
    if (lost < this.#shares.losses) return [];
    const first = held < this.#shares.reorder ? hold : 0;
    return doubled < this.#shares.duplicates ? [first, doubleHold] : [first];
  }
}
