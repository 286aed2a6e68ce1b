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
  return new SeededRandom(mix(mix(seed >>> 0, topicHash(topic)), number >>> 0));
}

const topics = new Map<string, number>();

function topicHash(topic: string): number {
  const known = topics.get(topic);
  if (known !== undefined) return known;
  let hash = 0x811c9dc5;
  for (let i = 0; i < topic.length; i++) hash = Math.imul(hash ^ topic.charCodeAt(i), 0x01000193);
  topics.set(topic, hash >>> 0);
  return hash >>> 0;
}

function mix(a: number, b: number): number {
  let h = Math.imul(a ^ (b + 0x9e3779b9), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
