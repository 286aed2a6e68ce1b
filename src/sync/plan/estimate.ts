import { messageOf } from "../../base/errors.ts";
import { ContradictionError, ForbiddenError, NotFoundError } from "../../connector/service-errors.ts";
import type { Resource } from "../../connector/resource.ts";
import { isShownWhole } from "../../store/apply/previews.ts";
import type { Transport } from "../../connector/transport.ts";
import { readList, pageFacts } from "../../extract/answers.ts";
import { requestFor, type QuickList } from "../../extract/work-request.ts";
import { changesOf, variantsOf } from "../../state/sweeps.ts";
import { listRequests } from "./initial-work.ts";
import type { Records } from "../../store/tables/stored-records.ts";
import { listPage } from "./list-reads.ts";
import type { ParentsPerRun, ScrubPlan } from "./scrub.ts";
import { formatCount } from "../../base/units.ts";

export interface ResourceEstimate {
  readonly list: number;
  readonly detail: number;
  readonly child: number;
  /** Records the service says it has; null where only reading shows it. */
  readonly records: number | null;
  readonly error?: string;
}

export interface KnownRecords extends Pick<Records, "counts"> {
  /** Of how many live parents the list of this resource was read: ever, or where each run reads lists, in those it continues. */
  readonly parentsRead: (resource: Resource) => number;
  /** How many details, or lists of parents, of this resource an earlier run left in the queue. */
  readonly waiting: (resource: string) => number;
  /** Of which resources an earlier run that this one continues read all lists. */
  readonly listsRead: ReadonlySet<string>;
  /** Of which resources the whole list is read now, although its changes could be, and how many pages. */
  readonly wholeLists: ReadonlyMap<string, number>;
}

/**
 * Estimates the requests of a run, by resource. Makes one small request per list and writes nothing. Lists and
 * child lists are exact while nobody changes anything; of details, new ones and those in the queue are known beforehand.
 *
 * @param known what the mirror already holds; null before the first run
 * @throws MirrorError when the service cannot be asked; 403, 404 and a wrong paginator are reported per resource instead
 */
export async function estimateRun(
  transport: Transport,
  resources: readonly Resource[],
  known: KnownRecords | null,
  { full, parentsPerRun }: { readonly full: boolean; readonly parentsPerRun: ParentsPerRun },
): Promise<Map<string, ResourceEstimate>> {
  const estimates = new Map<string, ResourceEstimate>();
  const live = (name: string) => known?.counts(name).live ?? 0;
  const waiting = (name: string) => known?.waiting(name) ?? 0;
  const hydrated = (name: string) =>
    live(name) - Math.max(known?.counts(name).provisional ?? 0, waiting(name));
  for (const resource of resources) {
    const { name, list } = resource;
    let estimate = nothing;
    if (list.kind === "single") estimate = { ...nothing, list: 1, records: 1 };
    else if (list.kind === "walked") {
      const whole = listRequests(resource, live(name));
      const isFollowed = known && !full && changesOf(resource);
      const pages = isFollowed ? (known.wholeLists.get(name) ?? 0) : Infinity;
      const requests = pages === Infinity ? whole : 1 + Math.min(whole, pages);
      const note = known ? { records: live(name) } : { error: noTotal };
      estimate = { ...nothing, list: requests, ...note };
    } else if (list.kind === "parents") {
      const counts = list.parents.map((one) => estimates.get(one.resource)?.records ?? live(one.resource));
      const parents = counts.reduce((sum, count) => sum + count, 0);
      // Besides those of the scrub.
      const share = full || typeof parentsPerRun === "string" ? parents : Math.min(parents, parentsPerRun);
      const child = Math.max(0, share - (known?.parentsRead(resource) ?? 0), waiting(name));
      estimate = { ...nothing, child };
    } else if (list.kind !== "owned") {
      const found = await estimateList(transport, resource, full ? 0 : hydrated(name));
      estimate = { ...found, detail: Math.max(found.detail, waiting(name)) };
    }
    estimates.set(name, known?.listsRead.has(name) ? { ...estimate, list: 0 } : estimate);
  }
  return estimates;
}

const noTotal = "the service names no total: at least so many";

const nothing: ResourceEstimate = { list: 0, detail: 0, child: 0, records: null };

/** @param kept how many records need no detail */
async function estimateList(transport: Transport, resource: Resource, kept: number) {
  try {
    const { records, showsAll } = await countRecords(transport, resource);
    const detail = showsAll ? 0 : Math.max(0, records - kept);
    return { list: listRequests(resource, records), detail, child: 0, records };
  } catch (error) {
    const isOwn = [NotFoundError, ForbiddenError, ContradictionError].some((kind) => error instanceof kind);
    if (!isOwn) throw error;
    const isWrong = error instanceof ContradictionError && "path" in resource.list;
    return { ...nothing, list: 1, error: messageOf(isWrong ? error.of(resource.list, null) : error) };
  }
}

/** Asks each list for one record, with the params of a run or these. `showsAll`: it shows all of its first record. */
export async function countRecords(transport: Transport, resource: Resource, params?: QuickList["params"]) {
  const quick = params && { quick: { kind: "all" as const, params } };
  let count = 0;
  let showsAll: boolean | undefined;
  for (const variant of variantsOf(resource)) {
    const work = listPage(resource.name, { variant, perPage: 1, ...quick }, 0);
    const request = requestFor(resource, { ...work, id: 0, attempts: 0 });
    const { records, paginator } = readList((await transport.send(request)).body, resource.list);
    count += resource.list.kind === "paged" ? pageFacts(paginator, 1).total : records.length;
    const [first] = records;
    if (first) showsAll = isShownWhole(resource, first.slice);
  }
  return { records: count, showsAll };
}

interface GrantedBudget {
  /** Requests in a window: its limit, without the reserve while other programs are seen. */
  readonly granted: number;
  readonly windowMs: number;
}

/** What a run costs, in the order in which it reads: lists, what was never read or has changed, the scrub. Pure. */
export function planRun(
  { lists, missing, scrub }: { readonly lists: number; readonly missing: number; readonly scrub: number },
  { total, nights }: Pick<ScrubPlan, "total" | "nights">,
  budget: GrantedBudget,
) {
  const cost = (requests: number) => ({ requests, minutes: minutesFor(requests, budget) });
  const minutes = minutesFor(lists + missing + scrub, budget);
  return { lists: cost(lists), missing: cost(missing), scrub: { ...cost(scrub), total, nights }, minutes };
}

export type RunPlan = ReturnType<typeof planRun>;

/** Minutes that so many requests take. A window's requests are sent at its start: the last window costs no time. */
export function minutesFor(requests: number, { granted, windowMs }: GrantedBudget): number {
  const windows = Math.max(0, Math.ceil(requests / Math.max(1, granted)) - 1);
  return Math.round((windows * windowMs) / 6_000) / 10;
}

export function minutesText(minutes: number): string {
  if (minutes < 1) return "less than a minute";
  return minutes === 1 ? "about a minute" : `about ${minutes} minutes`;
}

export function scrubText({ requests, minutes, total, nights }: RunPlan["scrub"]): string {
  if (total === 0) return "nothing yet";
  const often = nights === 1 ? "every night" : `every ${formatCount(nights)} nights`;
  const some = `${formatCount(requests)} of ${formatCount(total)}, ${minutesText(minutes)}`;
  return `${some}; every detail and CRM parent read so far is proved ${often}`;
}
