/** One measured ratio, with what is aimed at; never asserted. */
export interface BenchResult {
  readonly name: string;
  readonly ratio: number;
  /** `at least 0.65`, `at most 1.8`. */
  readonly aim: string;
  readonly detail: string;
}

/** A table as a page of docs/ has it; a bench prints it to be copied there. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The middle one. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
