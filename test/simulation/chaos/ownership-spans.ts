import type { RecordedWrite } from "./write-oracle.ts";

/** A time in which one process owned a company, by the clock of Postgres. */
export interface OwnershipSpan {
  readonly company: string;
  readonly process: string;
  readonly epoch: number;
  readonly fromMs: number;
  /** When it was released, or when its lease ran out. */
  untilMs: number;
  released: boolean;
}

/** Every ownership that was claimed, in the order of its claim. */
export function ownershipSpans(writes: readonly RecordedWrite[]): readonly OwnershipSpan[] {
  const spans: OwnershipSpan[] = [];
  const last = new Map<string, OwnershipSpan>();
  for (const { what, company, process, row, atMs } of writes) {
    if (what !== "owners") continue;
    const epoch = Number(row["epoch"]);
    const current = last.get(company);
    if (current?.epoch === epoch) {
      current.released = row["node"] === null;
      current.untilMs = current.released ? atMs : timeOf(row["expires_at"]);
    } else if (row["node"] !== null) {
      const untilMs = timeOf(row["expires_at"]);
      const span = { company, process: process ?? "?", epoch, fromMs: atMs, untilMs, released: false };
      last.set(company, span);
      spans.push(span);
    }
  }
  return spans;
}

/** By company, in the order of the claims. */
export function spansByCompany(
  spans: readonly OwnershipSpan[],
): ReadonlyMap<string, readonly OwnershipSpan[]> {
  return Map.groupBy(spans, ({ company }) => company);
}

/** Of a time stamp in JSON. */
export function timeOf(value: unknown): number {
  return typeof value === "string" ? Date.parse(value) : Number.NaN;
}
