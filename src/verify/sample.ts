import type { Random } from "../base/random.ts";

/** How many details are compared: so many, or all. */
export type SampleSize = number | "all";

/** Half of the sample are those read longest ago, half are random ones of the rest. Pure but for `random`. */
export function chooseSample<T extends { readonly readAtMs: number }>(
  pool: readonly T[],
  size: SampleSize,
  random: Pick<Random, "next">,
): T[] {
  if (size === "all" || size >= pool.length) return [...pool];
  const rest = pool.toSorted((a, b) => a.readAtMs - b.readAtMs);
  const chosen = rest.splice(0, Math.ceil(size / 2));
  while (chosen.length < size) {
    const at = Math.floor(random.next() * rest.length);
    const [one] = rest.splice(at, 1, ...rest.splice(-1));
    if (one !== undefined) chosen.push(one);
  }
  return chosen;
}
