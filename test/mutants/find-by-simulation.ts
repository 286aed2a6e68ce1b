import { runBounded } from "./run-bounded.ts";

/** What a simulation of some seeds found; `seed` is null where the process ended without naming one. */
export interface BrokenSeed {
  readonly seed: number | null;
  readonly what: string;
}

/** No seed broke. `isOver`: there was no time for more. */
export interface CleanSeeds {
  readonly clean: number;
  readonly isOver: boolean;
}

/**
 * Simulates seeds over a planted fault until an invariant breaks. Seeds that do not end in time show nothing.
 *
 * @param from the first seed, `seeds` the last
 */
export async function findBySimulation(
  folder: string,
  {
    from = 1,
    seeds,
    timeoutMs,
  }: { readonly from?: number; readonly seeds: number; readonly timeoutMs: number },
): Promise<BrokenSeed | CleanSeeds> {
  const args = ["test/mutants/first-broken-seed.ts", "--from", String(from), "--seeds", String(seeds)];
  const { code, output } = await runBounded(args, { folder, timeoutMs });
  const clean = output.match(/^clean \d+$/gm)?.length ?? 0;
  if (code === 0 || code === null) return { clean, isOver: code === null };
  const [line, seed] = /^seed (\d+): .*$/m.exec(output) ?? [];
  if (line === undefined) return { seed: null, what: "a seed that ends the process" };
  return { seed: Number(seed), what: line.slice(0, 100) };
}

/** Does this seed break an invariant without a fault, too? Then it shows none. Null: does the first one? */
export async function breaksAnyway(folder: string, seed: number | null): Promise<boolean> {
  const only = seed ?? 1;
  return "what" in (await findBySimulation(folder, { from: only, seeds: only, timeoutMs: 120_000 }));
}
