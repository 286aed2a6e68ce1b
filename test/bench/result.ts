import { mkdtempDisposableSync, type DisposableTempDir } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

export interface BenchResult {
  readonly name: string;
  readonly ratio: number;
  /** `at least 0.65`, `at most 1.8`. */
  readonly aim: string;
  readonly detail: string;
}

/** How much there is against the most that is aimed at. */
export function atMost(name: string, value: number, most: number, detail: string): BenchResult {
  return { name, ratio: value / most, aim: "at most 1", detail };
}

/** A table as a page of docs/ has it; a bench prints it to be copied there. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** The median of what one way took against what the other one took in the same round. */
export function medianRatio(of: readonly number[], to: readonly number[]): number {
  return median(of.map((one, round) => one / (to[round] ?? Number.NaN)));
}

export interface Time {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** Does the work, and says how long it took, by the clock and of this process' processor time. */
export async function timed<T>(work: () => T | Promise<T>): Promise<Time & { readonly made: T }> {
  const [startMs, before] = [performance.now(), process.cpuUsage()];
  const made = await work();
  const { user, system } = process.cpuUsage(before);
  return { made, wallMs: performance.now() - startMs, cpuMs: (user + system) / 1_000 };
}

/** What each way gave, round by round in turns: a busy machine slows all of them. The first `warmUp` rounds do not count. */
export async function inTurns<Given extends object>(
  rounds: number,
  ways: { readonly [Name in keyof Given]: () => Promise<Given[Name]> },
  warmUp = 0,
): Promise<{ readonly [Name in keyof Given]: Given[Name][] }> {
  const names = Object.keys(ways) as (keyof Given)[];
  const given = Object.fromEntries(names.map((name) => [name, []])) as unknown as {
    [Name in keyof Given]: Given[Name][];
  };
  for (let round = 0; round < warmUp + rounds; round++)
    for (const name of names) {
      const one = await ways[name]();
      if (round >= warmUp) given[name].push(one);
    }
  return given;
}

/** A folder on the disk, for as long as its scope. */
export function benchFolder(): DisposableTempDir {
  return mkdtempDisposableSync(path.join(tmpdir(), "fintoro-mirror-bench-"));
}
