import { createHash } from "node:crypto";
import { elapsedSince } from "../base/clock.ts";
import { counted, formatAge } from "../base/units.ts";
import type { CompanyStatus } from "./read-status.ts";

/** One of `count` parts of all companies, counted from 1. */
export type Shard = NonNullable<ReturnType<typeof parseShard>>;

/** Reads `2/3`; null for any other text, and for a shard that is not among them. */
export function parseShard(text: string) {
  const [index = 0, count = 0] = /^([1-9]\d{0,4})\/([1-9]\d{0,4})$/.exec(text)?.slice(1).map(Number) ?? [];
  return index > 0 && index <= count ? { index, count } : null;
}

export function shardText({ index, count }: Shard): string {
  return `${index}/${count}`;
}

/** The one shard that a company is in: SHA-256 of its name, a number of 256 bits, modulo `count`. */
export function shardOf(company: string, count: number): Shard {
  const hash = BigInt(`0x${createHash("sha256").update(company).digest("hex")}`);
  return { index: Number(hash % BigInt(count)) + 1, count };
}

export type ShardStatus = NonNullable<ReturnType<typeof judgeShards>>[number];

/**
 * How all shards of the companies `names` stand, as far as their mirrors can be read; null: no company's last run was one of
 * a shard. How many there are is what the last run noted that was made of one. Pure.
 */
export function judgeShards(
  names: readonly string[],
  companies: Readonly<Record<string, CompanyStatus>>,
  freshForMs: number,
  nowMs: number,
) {
  const count = countOfShards(Object.values(companies));
  if (count === null) return null;
  const shards = Map.groupBy(names, (name) => shardOf(name, count).index);
  return Array.from({ length: count }, (_, at) => {
    const own = shards.get(at + 1) ?? [];
    const times = own.flatMap(
      (name) => companies[name]?.health?.resources.flatMap((one) => one.sweptAt ?? []) ?? [],
    );
    const last = times.toSorted().at(-1) ?? null;
    const isFresh = last !== null && elapsedSince(Date.parse(last), nowMs) <= freshForMs;
    return {
      shard: shardText({ index: at + 1, count }),
      companies: own,
      /** When a list of one of them was last read whole, ISO; null: never. */
      last_read_at: last,
      /** It has companies, and none of them was read lately enough: most likely its runs are not made. */
      missing: own.some((name) => name in companies) && !isFresh,
    };
  });
}

function countOfShards(companies: readonly CompanyStatus[]): number | null {
  const noted = companies.flatMap(({ health }) => {
    const count = parseShard(health?.shard ?? "")?.count;
    return count === undefined ? [] : [{ count, at: health?.runs[0]?.startedAt ?? "" }];
  });
  return noted.toSorted((a, b) => (a.at < b.at ? -1 : 1)).at(-1)?.count ?? null;
}

/** The shards as lines for people: those that are missing, or all of them with their companies. Pure. */
export function shardLines(shards: readonly ShardStatus[] | null, all: boolean, nowMs: number): string[] {
  if (shards === null) return all ? ["no shards: the last run of no company was one of a shard"] : [];
  return shards.filter(({ missing }) => all || missing).map((one) => shardLine(one, all, nowMs));
}

function shardLine(
  { shard, companies, last_read_at: last, missing }: ShardStatus,
  all: boolean,
  nowMs: number,
) {
  if (companies.length === 0) return `shard ${shard}: no companies`;
  const agoText = last === null ? "" : `${formatAge(last, nowMs)} ago`;
  const since = last === null ? "no run yet" : `no run since ${last.slice(0, 19)}Z, ${agoText}`;
  const read = last === null ? "not known" : `read ${agoText}`;
  const count = counted(companies.length, "company", "companies");
  const names = all ? `: ${companies.join(", ")}` : "";
  return `${missing ? "! " : ""}shard ${shard}: ${missing ? since : read}; ${count}${names}`;
}
