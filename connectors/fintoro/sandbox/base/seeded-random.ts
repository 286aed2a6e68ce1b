/** Random numbers that follow from a seed. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A number in [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  often(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)] as T;
  }

  digits(length: number, base = 10): string {
    return Array.from({ length }, () => Math.floor(this.next() * base).toString(base)).join("");
  }

  /** A UUID, put together by `join`: that gives a flat string, and large companies keep many. */
  uuid(): string {
    const part = () => Math.floor(this.next() * 0x1_0000_0000).toString(16);
    const [a, b, c, d] = [part(), part(), part(), part()].map((text) => text.padStart(8, "0"));
    const [b1, b2, c1, c2] = [b?.slice(0, 4), b?.slice(5), c?.slice(0, 3), c?.slice(4)];
    return [a, "-", b1, "-4", b2, "-a", c1, "-", c2, d].join("");
  }
}

/** A generator for each (seed, topic, number): a record gets the same values whatever was made before it. */
export function randomFor(seed: number, topic: string, number: number): SeededRandom {
  let hash = 0x811c9dc5;
  for (const letter of `${seed} ${topic} ${number}`)
    hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193);
  return new SeededRandom(hash);
}
