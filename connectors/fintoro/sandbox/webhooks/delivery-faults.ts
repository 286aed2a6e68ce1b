import { MirrorError } from "../../../../src/base/errors.ts";
import { randomFor } from "../base/seeded-random.ts";

/** Shares from 0 to 1 of what goes wrong between the service and its receivers. */
export interface DeliveryShares {
  /** Sent a second time, a moment later. */
  readonly duplicates: number;
  /** Never sent at all. */
  readonly losses: number;
  /** Held back while later ones overtake. */
  readonly reorder: number;
}

const faultless: DeliveryShares = { duplicates: 0, losses: 0, reorder: 0 };

/** Decides what goes wrong with each delivery: with the n-th of a company the same for the same seed and shares. */
export class DeliveryFaults {
  readonly #seed: number;
  #shares = faultless;
  #count = 0;

  constructor(seed: number, shares: Partial<DeliveryShares>) {
    this.#seed = seed;
    this.change(shares);
  }

  change(shares: Partial<DeliveryShares>): void {
    this.#shares = { ...this.#shares, ...shares };
  }

  /** How long each copy of the next delivery is held back, ms; no copy for one that is lost. */
  next(): readonly number[] {
    const { losses, duplicates, reorder } = this.#shares;
    const random = randomFor(this.#seed, "delivery", this.#count++);
    if (random.often(losses)) return [];
    const isDoubled = random.often(duplicates);
    const heldMs = () => random.int(20, 250);
    const first = random.often(reorder) ? heldMs() : 0;
    return isDoubled ? [first, heldMs()] : [first];
  }
}

/**
 * `duplicates:0.2,losses:0.2,reorder:0.5` -> shares.
 *
 * @throws MirrorError `usage` where a part is not understood
 */
export function parseShares(text: string): Partial<DeliveryShares> {
  const parts = text.split(",").map((part) => part.trim());
  return Object.fromEntries(parts.filter((part) => part !== "").map(parseShare));
}

function parseShare(part: string): [string, number] {
  const [, name = "", share = "2"] = /^(\w+):([\d.]+)$/.exec(part) ?? [];
  if (name in faultless && Number(share) <= 1) return [name, Number(share)];
  throw new MirrorError("usage", `webhook fault "${part}" cannot be read`, {
    hint: "write shares from 0 to 1 of duplicates, losses and reorder: duplicates:0.2,losses:0.1,reorder:0.5",
  });
}
