import { runBounded } from "./run-bounded.ts";

/**
 * Simulates seeds over a planted fault until an invariant breaks. Seeds that do not end in time show nothing.
 *
 * @returns the seed and what broke; null: no seed found it
 */
export async function findBySimulation(
  folder: string,
  { seeds, timeoutMs }: { readonly seeds: number; readonly timeoutMs: number },
): Promise<string | null> {
  const args = ["test/mutants/first-broken-seed.ts", "--seeds", String(seeds)];
  const { code, output } = await runBounded(args, { folder, timeoutMs });
  if (code === 0 || code === null) return null;
  return /^seed \d+: .*$/m.exec(output)?.[0].slice(0, 100) ?? "a seed that ends the process";
}
