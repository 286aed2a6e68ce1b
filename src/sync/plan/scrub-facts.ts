import { isoTime } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import { Meta, readRestored } from "../../state/meta.ts";
import { ScrubCandidates, type ScrubCandidate, type ScrubSource } from "../../state/scrub-candidates.ts";
import type { Db } from "../../store/database.ts";
import { knownPlan, type TablePlan } from "../../store/tables/table-plan.ts";
import { mostRecent, recentActivityMs, scrubAgeMs } from "../context/limits.ts";
import {
  chooseScrub,
  planScrub,
  scrubDayAt,
  scrubLeft,
  type ScrubDay,
  type ScrubFacts,
  type ScrubPlan,
  type ScrubSettings,
} from "./scrub-plan.ts";

/** Where parents' lists are read: in the scrub, with the first reading at once; or in every run, all or so many. */
export type ParentsPerRun = "auto" | "all" | number;

/** What the config says of resources that are listed parent by parent. */
export function parentsPerRunOf({ resources }: Manifest, config: Config): ParentsPerRun {
  const { parentsPerRun: choices } = config.resources;
  const found = resources.find(({ name, list }) => list.kind === "parents" && choices[name] !== undefined);
  return (found && choices[found.name]) ?? "auto";
}

/** What the scrub of one company depends on, besides its mirror. */
export interface ScrubQuestion extends Pick<ScrubFacts, "limit" | "windowMs"> {
  readonly settings: ScrubSettings;
  /** Every resource of the connector. */
  readonly manifest: readonly Resource[];
  /** Resources that are read again. */
  readonly resources: readonly Resource[];
  readonly parentsPerRun: ParentsPerRun;
  /** Did webhooks arrive without a gap since this moment, epoch ms? */
  readonly isCovered: (sinceMs: number) => boolean;
  readonly nowMs: number;
}

/** The plan of a mirror, and what of it is left today. */
export interface ScrubToday {
  readonly plan: ScrubPlan;
  readonly day: ScrubDay;
  /** Requests. */
  readonly left: number;
  readonly sources: readonly ScrubSource[];
}

const dayKey = "scrub_day";

/** Those with recent activity, parents before records, each the stalest first, whenever they were read. Writes nothing. */
export function readRecent(db: Db, question: ScrubQuestion): ScrubCandidate[] {
  const { nowMs } = question;
  const sources = scrubSources(question);
  const times = { untilMs: nowMs, nowMs, sinceMs: nowMs - recentActivityMs };
  const candidates = new ScrubCandidates(db);
  return [true, false].flatMap((isList) =>
    candidates.recent(
      sources.filter(({ listOf }) => (listOf !== null) === isList),
      times,
      mostRecent,
    ),
  );
}

/**
 * Makes the plan from what the mirror holds. Writes nothing.
 *
 * @param recent how many have recent activity; null: as many as the last scrub found, since to count them takes long
 */
export function readScrubPlan(db: Db, question: ScrubQuestion, recent: number | null): ScrubToday {
  const { settings, limit, windowMs, isCovered, nowMs } = question;
  const candidates = new ScrubCandidates(db);
  const sources = scrubSources(question);
  const found = sources.map((source) => candidates.readBefore(source));
  const total = found.reduce((sum, { count }) => sum + count, 0);
  const oldestMs = Math.min(nowMs, ...found.flatMap(({ oldestMs: oldest }) => oldest ?? []));
  const noted = scrubDayAt(new Meta(db).get(dayKey) as ScrubDay | null, nowMs);
  const day = { ...noted, recent: Math.min(total, recent ?? noted.recent) };
  const facts = { total, limit, windowMs, covered: isCovered(oldestMs), recent: day.recent };
  const plan = planScrub(settings, facts);
  return { plan, day, left: scrubLeft(plan, day), sources };
}

/** What a run at this moment reads again, in this order. Writes nothing. */
export function readScrubChoice(
  db: Db,
  { plan, left, sources }: ScrubToday,
  recent: readonly ScrubCandidate[],
  nowMs: number,
): ScrubCandidate[] {
  if (left === 0) return [];
  // What webhooks said between a backup and its restore is not known: all that was read before may have changed.
  const restoredMs = Date.parse(readRestored(db)?.at ?? isoTime(0));
  const untilMs = Math.max(nowMs - scrubAgeMs, Math.min(restoredMs, nowMs));
  // Those with recent activity may be among the stalest, too.
  const stalest = new ScrubCandidates(db).stalest(sources, { untilMs, nowMs }, left + plan.recent);
  const due = recent.filter(({ readAtMs }) => readAtMs <= untilMs);
  return chooseScrub(plan, left, { stalest, recent: due }, nameOf);
}

/** Counts what is queued on this day; call it in the transaction that queues it. */
export function useScrubDay(meta: Meta, day: ScrubDay, requests: number): void {
  meta.set(dayKey, { ...day, used: day.used + requests });
}

/** Takes back what was queued on the last day and not read; call it in the transaction that withdraws it. */
export function giveBackScrub(meta: Meta, requests: number): void {
  const last = meta.get(dayKey) as ScrubDay | null;
  if (last && requests > 0) meta.set(dayKey, { ...last, used: Math.max(0, last.used - requests) });
}

function nameOf({ source, id }: ScrubCandidate): string {
  return `${source.listOf} ${source.table} ${id}`;
}

/** Where details and lists of parents are: records that lists show in full need no scrub. */
export function scrubSources({
  manifest,
  resources,
  parentsPerRun,
}: Pick<ScrubQuestion, "manifest" | "resources" | "parentsPerRun">): ScrubSource[] {
  return resources.flatMap((resource) => {
    const { name, list, gives, fullWhen } = resource;
    if (list.kind === "parents" && parentsPerRun === "auto") {
      const tables = manifest.map((one) => knownPlan(one));
      return list.parents.map((parent) => parentSource(tables, parent.resource, name));
    }
    const isShownInPart = gives === "preview" || fullWhen !== undefined;
    return isShownInPart
      ? [{ table: name, listOf: null, date: dateOf(knownPlan(resource)), referrers: [] }]
      : [];
  });
}

function parentSource(tables: readonly TablePlan[], table: string, listOf: string): ScrubSource {
  const dates = new Map(tables.map((one) => [one.table, dateOf(one)]));
  const referrers = tables.flatMap((other) => {
    const column = other.columns.find(({ references }) => references === table)?.name;
    return column === undefined ? [] : [{ table: other.table, column, date: dateOf(other) }];
  });
  return { table, listOf, date: dates.get(table) ?? null, referrers };
}

/** The first date that each row has. */
function dateOf({ columns }: TablePlan): string | null {
  return columns.find(({ scalar, nullable }) => scalar === "date" && !nullable)?.name ?? null;
}
