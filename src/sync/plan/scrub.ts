import { dayMs, hourMs, isoTime, minuteMs } from "../../base/clock.ts";
import type { Config } from "../../config/config.ts";
import type { Resource } from "../../connector/resource.ts";
import { Meta, readRestored } from "../../state/meta.ts";
import { ScrubCandidates, type ScrubCandidate, type ScrubSource } from "../../state/scrub-candidates.ts";
import type { WorkQueue } from "../../state/work-queue.ts";
import type { Db } from "../../store/database.ts";
import { knownPlan, type TablePlan } from "../../store/tables/table-plan.ts";

interface ScrubSettings {
  /** Time of a day, at the full budget; null: half an hour, or five minutes behind webhooks without a gap. */
  readonly timeMs: number | null;
  readonly cycleMs: number;
  /** Time of a day that is never exceeded, at the full budget. */
  readonly atMostMs: number;
}

interface ScrubFacts {
  /** Details, and lists of parents, that were read before: what is to be read again. */
  readonly total: number;
  readonly limit: number;
  readonly windowMs: number;
  /** Webhooks arrived without a gap since the stalest of them was read. */
  readonly covered: boolean;
  readonly recent: number;
}

export interface ScrubPlan {
  readonly total: number;
  /** Days until each of them was read again. */
  readonly nights: number;
  /** For those read longest ago. */
  readonly stalest: number;
  /** For those with recent activity. */
  readonly recent: number;
  /** Does what the recent ones leave unused go to the stalest? */
  readonly fills: boolean;
}

/** The scrub leaves out what was read more recently than this; its day is as long. */
export const scrubAgeMs = 20 * hourMs;
/** Within this time a change, an event or a document of a record counts as recent activity. */
const recentActivityMs = 90 * dayMs;
/** So many of the parents, and of the records, with recent activity are looked at in one scrub. */
const mostRecent = 20_000;
const usualTimeMs = 30 * minuteMs;
const coveredTimeMs = 5 * minuteMs;

/**
 * The requests of a day. Up to half of them are for those with recent activity, which may be read every night; the rest
 * is for the stalest, in as few nights as possible and in equal parts. Where the usual time suffices for the cycle, all
 * of it is used. Else the cycle says how many of the stalest must be read, and recent activity adds the usual time at most.
 */
export function planScrub({ timeMs, cycleMs, atMostMs }: ScrubSettings, facts: ScrubFacts): ScrubPlan {
  const { total, limit, windowMs, covered, recent } = facts;
  const requestsIn = (ms: number) => Math.max(1, Math.floor((ms * limit) / windowMs));
  const most = requestsIn(atMostMs);
  const usual = Math.min(most, requestsIn(timeMs ?? (covered ? coveredTimeMs : usualTimeMs)));
  const cycle = Math.max(1, Math.floor(cycleMs / dayMs));
  const spare = usual - Math.ceil(total / cycle);
  const added = Math.max(Math.floor(usual / 2), Math.min(usual, Math.floor(total / cycle)));
  // Events bring what webhooks say: recent activity then makes no night longer.
  const half = covered && spare >= 0 ? Math.min(Math.floor(usual / 2), spare) : added;
  const active = Math.min(recent, half, Math.floor(most / 2));
  const rest = total - active;
  const needed = Math.ceil(rest / cycle);
  const fills = active + needed <= usual;
  const nights = Math.ceil(rest / Math.max(1, fills ? usual - active : Math.min(needed, most - active)));
  const stalest = Math.ceil(rest / Math.max(1, nights));
  const forRecent = fills ? usual - stalest : active;
  return { total, nights: total === 0 ? 0 : Math.max(1, nights), stalest, recent: forRecent, fills };
}

/** A day of the scrub: it opens with its first scrub, and runs within it share one allowance. */
interface ScrubDay {
  readonly startedMs: number;
  readonly used: number;
  /** How many had recent activity when the last scrub was planned. */
  readonly recent: number;
}

/** The day at this moment; days without a run do not add up. */
export function scrubDayAt(last: ScrubDay | null, nowMs: number): ScrubDay {
  const isOpen = last !== null && nowMs >= last.startedMs && nowMs - last.startedMs < scrubAgeMs;
  return isOpen ? last : { startedMs: nowMs, used: 0, recent: last?.recent ?? 0 };
}

export function scrubLeft({ stalest, recent }: ScrubPlan, { used }: ScrubDay): number {
  return Math.max(0, stalest + recent - used);
}

/**
 * What is read in this run, in this order: in turn one with recent activity and one of the stalest, so that a run
 * that is cut off serves both. Of what is left of a day, half may go to recent activity.
 *
 * @param left requests that are left of the day
 * @param stalest those read longest ago first; in `recent` parents come before records
 * @param keyOf names a candidate
 */
export function chooseScrub<T>(
  plan: ScrubPlan,
  left: number,
  { stalest, recent }: { readonly stalest: readonly T[]; readonly recent: readonly T[] },
  keyOf: (candidate: T) => string,
): T[] {
  const most = Math.min(plan.recent, Math.max(left - plan.stalest, Math.floor(left / 2)));
  const active = recent.slice(0, most);
  const taken = new Set(active.map(keyOf));
  const others = stalest.filter((one) => !taken.has(keyOf(one)));
  const oldest = others.slice(0, plan.stalest);
  const rest = plan.fills ? others.slice(plan.stalest) : [];
  const chosen = Array.from({ length: Math.max(oldest.length, active.length) }, (_, i) => [
    ...active.slice(i, i + 1),
    ...oldest.slice(i, i + 1),
  ]);
  return [...chosen.flat(), ...rest].slice(0, left);
}

/** Where parents' lists are read: in the scrub, with the first reading at once; or in every run, all or so many. */
export type ParentsPerRun = "auto" | "all" | number;

/** What the config says of resources that are listed parent by parent: the first of them that it names. */
export function parentsPerRunOf({ resources }: Pick<Config, "resources">): ParentsPerRun {
  const [first = "auto"] = Object.values(resources.parentsPerRun);
  return first;
}

/** What the scrub of one company depends on, besides its mirror. */
export interface ScrubQuestion extends Pick<ScrubFacts, "limit" | "windowMs"> {
  readonly settings: ScrubSettings;
  readonly declared: readonly Resource[];
  readonly resources: readonly Resource[];
  readonly parentsPerRun: ParentsPerRun;
  /** Did webhooks arrive without a gap since this moment, epoch ms? */
  readonly isCovered: (sinceMs: number) => boolean;
  readonly nowMs: number;
}

const dayKey = "scrub_day";

/** Those with recent activity, parents before records, each the stalest first, whenever they were read. Writes nothing. */
export function readRecent(db: Db, question: ScrubQuestion): ScrubCandidate[] {
  const { nowMs } = question;
  const sources = scrubSources(question);
  const times = { untilMs: nowMs, nowMs, sinceMs: nowMs - recentActivityMs };
  const candidates = new ScrubCandidates(db);
  const those = (isList: boolean) => sources.filter(({ listOf }) => (listOf !== null) === isList);
  return [true, false].flatMap((isList) => candidates.recent(those(isList), times, mostRecent));
}

/**
 * Makes the plan from what the mirror holds, and says what of it is left today, in requests. Writes nothing.
 *
 * @param recent how many have recent activity; null: as many as the last scrub found, since to count them takes long
 * @param readBefore what `ScrubCandidates.readBefore` finds, which reads each of them
 */
export function readScrubPlan(
  db: Db,
  question: ScrubQuestion,
  recent: number | null,
  readBefore = new ScrubCandidates(db).readBefore(scrubSources(question)),
) {
  const { settings, limit, windowMs, isCovered, nowMs } = question;
  const sources = scrubSources(question);
  const { count: total, oldestMs: oldest } = readBefore;
  const oldestMs = Math.min(nowMs, oldest ?? nowMs);
  const noted = scrubDayAt(new Meta(db).get(dayKey) as ScrubDay | null, nowMs);
  const day = { ...noted, recent: Math.min(total, recent ?? noted.recent) };
  const facts = { total, limit, windowMs, covered: isCovered(oldestMs), recent: day.recent };
  const plan = planScrub(settings, facts);
  return { plan, day, left: scrubLeft(plan, day), sources };
}

const nameOf = ({ source, id }: ScrubCandidate) => `${source.listOf} ${source.table} ${id}`;

/** What a run at this moment reads again, in this order. Writes nothing. */
export function readScrubChoice(
  db: Db,
  { plan, left, sources }: ReturnType<typeof readScrubPlan>,
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

/** Takes back what was queued on the last day and nobody read. Returns its number. */
export function withdrawScrub(queue: Pick<WorkQueue, "withdrawScrub">, meta: Meta): number {
  const left = queue.withdrawScrub();
  const last = meta.get(dayKey) as ScrubDay | null;
  if (last && left > 0) meta.set(dayKey, { ...last, used: Math.max(0, last.used - left) });
  return left;
}

/** Where details and lists of parents are: records that lists show in full need no scrub. */
export function scrubSources({
  declared,
  resources,
  parentsPerRun,
}: Pick<ScrubQuestion, "declared" | "resources" | "parentsPerRun">): ScrubSource[] {
  return resources.flatMap((resource) => {
    const { name, list, gives, fullWhen } = resource;
    if (list.kind === "parents" && parentsPerRun === "auto") {
      const tables = declared.map((one) => knownPlan(one));
      return list.parents.map((parent) => parentSource(tables, parent.resource, name));
    }
    if (gives !== "preview" && fullWhen === undefined) return [];
    return [{ table: name, listOf: null, date: dateOf(knownPlan(resource)), referrers: [] }];
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

function dateOf({ columns }: TablePlan): string | null {
  return columns.find(({ scalar, nullable }) => scalar === "date" && !nullable)?.name ?? null;
}
