import { runBounded } from "./run-bounded.ts";

const timeoutMs = 180_000;
const seedFound = /^seed (\d+)$/m;

/**
 * Runs the simulation over a planted fault until an invariant breaks.
 *
 * @returns the seed, or what else happened; null: no seed found it
 */
export async function findBySimulation(folder: string, seeds: number): Promise<string | null> {
  const args = ["test/simulation/run.ts", "--seeds", String(seeds)];
  const { code, output } = await runBounded(args, { folder, timeoutMs, until: /^ *replay: .*\n/m });
  const seed = seedFound.exec(output)?.[1];
  if (seed !== undefined) return `seed ${seed}`;
  if (code === 0) return null;
  return code === null ? "it does not end" : "it fails";
}
