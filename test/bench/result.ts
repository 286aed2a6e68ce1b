/** One measured ratio, with what is aimed at; never asserted. */
export interface BenchResult {
  readonly name: string;
  readonly ratio: number;
  /** `at least 0.65`, `at most 1.8`. */
  readonly aim: string;
  readonly detail: string;
}
