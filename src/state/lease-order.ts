import { laneRank, lanes as allLanes, type Lane } from "../base/lane.ts";
import type { OwnRow } from "../store/own-tables/mirror-tables.ts";
import { among, count, Repository, statement } from "../store/own-tables/statement.ts";
import { longestDelayMs, type WorkItem } from "./work-item.ts";

/**
 * Whose items: beside an event worker, which reads the webhook lane, runs read the other lanes. A quick run: its own.
 * A comparison: what it asks for, which is in the lane of lists, and no detail that follows.
 */
export type LaneShare = "all" | "events" | "others" | "quick" | "asked";

/** What may be leased: items of these resources and lanes that are due and that nobody holds. */
interface LeaseQuestion {
  readonly nowMs: number;
  readonly resources: readonly string[];
  readonly share: LaneShare;
  readonly leased: ReadonlyMap<number, WorkItem>;
}

type StoredItem = Omit<WorkItem, "lane" | "payload" | "dueAtMs"> &
  Pick<OwnRow<"_work">, "lane" | "payload" | "rank"> & { readonly dueAtMs: number };

const itemColumns = `id, resource, target, kind, lane, due_ms AS dueAtMs, rank, reason, payload,
  dirty_seq AS dirtySeq, attempts`;

/** For so long records known to have changed hold back missing details; then the two take turns. */
const changedAloneMs = 30 * 60_000;

/** The values that a column has in ready items: one search in the index for each. */
function waitingBy(column: "lane" | "resource", condition = ""): string {
  const next = (after: string) =>
    `SELECT min(${column}) FROM _work WHERE state = 'ready' ${condition} ${after}`;
  return `WITH RECURSIVE waiting(value) AS (${next("")} UNION ALL
    SELECT (${next(`AND ${column} > waiting.value`)}) FROM waiting WHERE waiting.value IS NOT NULL)
    SELECT value FROM waiting WHERE value IS NOT NULL`;
}

/** Most lanes are empty most of the time. */
const waitingLanes = waitingBy("lane");

type LaneQuestion = LeaseQuestion & { readonly lanes: readonly number[] };

/**
 * Which item is read next. Lanes are served one after the other, with these exceptions:
 *
 * - Lists of rank 0 come before everything but events: nothing else is leased while one of them is under way. Lists of
 *   a higher rank take turns with details, one page and one detail, so that neither starves the other.
 * - Details are read in turn over the resources, within a resource by rank: a big resource holds back no other.
 * - Records known to have changed come before missing details, but not alone for longer than half an hour.
 *
 * Guarantee: an item is found without a look at the others that wait; only leased and postponed ones are passed over.
 * Source of truth: table `_work`. Whose turn it is, is known in memory only.
 * Worst outcome of a crash: turns begin anew.
 */
export class LeaseOrder extends Repository {
  private turnOf: "lists" | "details" = "lists";
  /** The resource of the detail read last; the next in the alphabet is next in turn. */
  private lastResource = "";
  /** Since when details of changed records are read without a pause, epoch ms. */
  private changedSinceMs: number | null = null;
  private lastDetails: Lane = "hydration";

  /** The next item to lease; undefined: none is due and free. */
  next(question: LeaseQuestion): StoredItem | undefined {
    const { share } = question;
    const asked = { ...question, lanes: this.selectColumn<number>(waitingLanes) };
    if (share === "events") return this.nextDue("webhook", asked);
    if (share === "quick") return this.nextDue("quick", asked);
    if (share === "asked") return this.nextDue("list", asked);
    const first =
      (share === "all" ? this.nextDue("webhook", asked) : undefined) ??
      this.nextDue("list", asked, "AND rank <= 0");
    // The answer to a page under way may bring more pages, which come before details.
    if (first || [...asked.leased.values()].some(isListAlone)) return first;
    return this.nextInTurn(asked) ?? this.nextDue("scrub", asked) ?? this.nextDue("files", asked);
  }

  /** The item of a lane that is due first, now or later; leased ones are left out. */
  firstDue(lane: number, asked: Pick<LeaseQuestion, "resources" | "leased">): StoredItem | undefined {
    return this.firstFree("due_ms >= ?", lane, asked, 0);
  }

  /** What waits of these resources, in the order in which lanes are served. */
  counts(resources: readonly string[]) {
    return counts
      .all(this.db, { resources })
      .map(({ lane, ...same }) => ({ lane: allLanes[lane] as Lane, ...same }));
  }

  private nextDue(lane: Lane, asked: LaneQuestion, condition = ""): StoredItem | undefined {
    const rank = laneRank(lane);
    if (!asked.lanes.includes(rank)) return undefined;
    return (
      this.firstFree(`due_ms <= ? ${condition}`, rank, asked, asked.nowMs) ??
      this.firstFree(`due_ms > ? ${condition}`, rank, asked, asked.nowMs + longestDelayMs)
    );
  }

  /** By the time they are due; items that are due in the future are not scanned for those due now. */
  private firstFree(
    due: string,
    lane: number,
    { resources, leased }: Pick<LeaseQuestion, "resources" | "leased">,
    boundMs: number,
  ): StoredItem | undefined {
    const sql = `SELECT ${itemColumns} FROM _work INDEXED BY _work_next WHERE state = 'ready' AND lane = ? AND ${due}
      AND resource IN (SELECT value FROM json_each(?)) ORDER BY due_ms, rank, id LIMIT ?`;
    const rows = this.selectAll<StoredItem>(sql, lane, boundMs, JSON.stringify(resources), leased.size + 1);
    return rows.find(({ id }) => !leased.has(id));
  }

  /** Lists that were read whole before, and details. */
  private nextInTurn(asked: LaneQuestion): StoredItem | undefined {
    const page = () => this.nextDue("list", asked);
    const item =
      this.turnOf === "lists" ? (page() ?? this.nextDetail(asked)) : (this.nextDetail(asked) ?? page());
    if (item) this.turnOf = item.lane === laneRank("list") ? "details" : "lists";
    return item;
  }

  private nextDetail(asked: LaneQuestion): StoredItem | undefined {
    const changed = () => this.nextOfResources("changed", asked);
    const missing = () => this.nextOfResources("hydration", asked);
    const alone = asked.nowMs - (this.changedSinceMs ?? asked.nowMs) <= changedAloneMs;
    const item =
      alone || this.lastDetails !== "changed" ? (changed() ?? missing()) : (missing() ?? changed());
    if (!item) return undefined;
    this.lastDetails = item.lane === laneRank("changed") ? "changed" : "hydration";
    if (this.lastDetails === "changed") this.changedSinceMs ??= asked.nowMs;
    else if (alone) this.changedSinceMs = null;
    return item;
  }

  /** In turn over the resources, within a resource by rank. */
  private nextOfResources(lane: Lane, asked: LaneQuestion): StoredItem | undefined {
    const { nowMs, resources, leased, lanes } = asked;
    const rank = laneRank(lane);
    if (!lanes.includes(rank)) return undefined;
    const waiting = this.selectColumn<string>(waitingBy("resource", `AND lane = ${rank}`));
    const after = waiting.filter((name) => name > this.lastResource);
    const before = waiting.filter((name) => name <= this.lastResource);
    const sql = `SELECT ${itemColumns} FROM _work INDEXED BY _work_turns WHERE state = 'ready' AND lane = ${rank}
      AND resource = ? AND (due_ms <= ? OR due_ms > ?) ORDER BY rank, id LIMIT ?`;
    for (const name of [...after, ...before]) {
      if (!resources.includes(name)) continue;
      const held = [...leased.values()].filter(({ resource }) => resource === name).length;
      const values = [name, nowMs, nowMs + longestDelayMs, held + 1];
      const item = this.selectAll<StoredItem>(sql, ...values).find(({ id }) => !leased.has(id));
      if (!item) continue;
      this.lastResource = name;
      return item;
    }
    return undefined;
  }
}

const counts = statement((db, p: { resources: readonly string[] }) => {
  const own = db.selectFrom("_work").where("resource", "in", among(p.resources));
  const counted = own.select(["lane", "state", count]);
  return counted.groupBy(["lane", "state"]).orderBy("lane").orderBy("state");
});

const isListAlone = ({ kind, rank = 0 }: WorkItem) => kind === "list" && rank <= 0;
