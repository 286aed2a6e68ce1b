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

/** How long a delivery is held back. */
const heldMs = { least: 20, most: 250 };

/** Decides what goes wrong with each delivery: with the n-th of a company the same for the same seed and shares. */
export class DeliveryFaults {
  readonly #seed: number;
  #shares = faultless;
  #count = 0;

  constructor(seed: number, shares: Partial<DeliveryShares>) {
    this.#seed = seed;
    this.change(shares);
  }

  /** @throws RangeError where a share is not from 0 to 1 */
  change(shares: Partial<DeliveryShares>): void {
    for (const [name, share] of Object.entries(shares)) {
      if (!(share >= 0 && share <= 1)) throw new RangeError(`${name} is a share from 0 to 1, not ${share}`);
    }
    this.#shares = { ...this.#shares, ...shares };
  }

  /** How long each copy of the next delivery is held back, ms; no copy for one that is lost. */
  next(): readonly number[] {
    const random = randomFor(this.#seed, "delivery", this.#count++);
    const [lost, doubled, held] = [random.next(), random.next(), random.next()];
    const firstMs = random.int(heldMs.least, heldMs.most);
    const secondMs = random.int(heldMs.least, heldMs.most);
    if (lost < this.#shares.losses) return [];
    const first = held < this.#shares.reorder ? firstMs : 0;
    return doubled < this.#shares.duplicates ? [first, secondMs] : [first];
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
  const [name = "", value = "", ...rest] = part.split(":");
  const share = value === "" || rest.length > 0 ? Number.NaN : Number(value);
  if (name in faultless && share >= 0 && share <= 1) return [name, share];
  throw new MirrorError("usage", `webhook fault "${part}" cannot be read`, {
    hint: "write shares from 0 to 1 of duplicates, losses and reorder: duplicates:0.2,losses:0.1,reorder:0.5",
  });
}
