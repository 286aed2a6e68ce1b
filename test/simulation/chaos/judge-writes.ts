import { timeOf } from "./ownership-spans.ts";
import type { RecordedWrite, Row } from "./write-oracle.ts";

/** What the rows of one company have come to so far. */
interface CompanyHistory {
  epoch: number;
  /** Who claimed each epoch. */
  readonly claimers: Map<number, string>;
  /** The highest `seq` in `changes`; null before the first. */
  lastChange: number | null;
  /** Columns that may only rise, by table and column. */
  readonly heights: Map<string, number>;
}

const rising: Readonly<Partial<Record<RecordedWrite["what"], readonly string[]>>> = {
  snapshots: ["epoch", "seq", "inbox_seq"],
  inbox_heads: ["drained"],
  reports: ["epoch", "seq"],
};

/**
 * What breaks the rules of ownership: an epoch with two writers, an owner replaced while it lives, an epoch, a snapshot
 * or a change log that goes back, a change log with a gap.
 *
 * @param writes in the order of their transactions
 */
export function judgeWrites(writes: readonly RecordedWrite[]): string[] {
  const companies = new Map<string, CompanyHistory>();
  return writes.flatMap((write) => {
    const history = companies.get(write.company) ?? newHistory();
    companies.set(write.company, history);
    const broken = write.what === "owners" ? judgeOwner(write, history) : judgeOwned(write, history);
    return broken.map((what) => `${write.company}: ${what} (write ${write.id}, by ${write.process})`);
  });
}

function newHistory(): CompanyHistory {
  return { epoch: 0, claimers: new Map(), lastChange: null, heights: new Map() };
}

function judgeOwner({ op, process, row, before, atMs }: RecordedWrite, history: CompanyHistory): string[] {
  if (op === "DELETE") return ["the owner's row was removed"];
  const epoch = Number(row["epoch"]);
  const previous = history.epoch;
  history.epoch = epoch;
  if (epoch < previous) return [`the epoch went back from ${previous} to ${epoch}`];
  if (epoch === previous)
    return history.claimers.get(epoch) === process
      ? []
      : [`epoch ${epoch} of ${history.claimers.get(epoch)} was written by another`];
  history.claimers.set(epoch, process ?? "?");
  const lived = isAlive(before, atMs) ? [`epoch ${epoch} was claimed while epoch ${previous} lived`] : [];
  return epoch === previous + 1 ? lived : [...lived, `epoch ${epoch} followed ${previous}`];
}

function isAlive(owner: Row | null, atMs: number): boolean {
  return owner !== null && owner["node"] !== null && timeOf(owner["expires_at"]) > atMs;
}

function judgeOwned(write: RecordedWrite, history: CompanyHistory): string[] {
  const { what, process, row, ownerEpoch } = write;
  const owner = ownerEpoch === null ? undefined : history.claimers.get(ownerEpoch);
  const epoch = Number(row["epoch"] ?? ownerEpoch);
  const broken: string[] = [];
  if (owner !== process) broken.push(`${what} was written in epoch ${ownerEpoch} of ${owner}`);
  if (epoch !== ownerEpoch) broken.push(`${what} of epoch ${epoch} was written in epoch ${ownerEpoch}`);
  return [...broken, ...(what === "changes" ? judgeChange(write, history) : judgeHeights(write, history))];
}

function judgeChange({ op, row }: RecordedWrite, history: CompanyHistory): string[] {
  const seq = Number(row["seq"]);
  if (op !== "INSERT") return [`change ${seq} was altered (${op})`];
  // A log begins with any number.
  const expected = history.lastChange === null ? seq : history.lastChange + 1;
  history.lastChange = seq;
  return seq === expected ? [] : [`change ${seq} was written where ${expected} was expected`];
}

function judgeHeights({ what, op, row }: RecordedWrite, { heights }: CompanyHistory): string[] {
  if (op === "DELETE") return [`a row of ${what} was removed`];
  return (rising[what] ?? []).flatMap((column) => {
    const [key, value] = [`${what}.${column}`, Number(row[column])];
    const before = heights.get(key) ?? 0;
    heights.set(key, value);
    return value < before ? [`${key} went back from ${before} to ${value}`] : [];
  });
}
