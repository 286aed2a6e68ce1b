import type { Resource } from "../../connector/resource.ts";
import type { Meta } from "../../state/meta.ts";
import type { Runs } from "../../state/runs.ts";
import type { Records } from "../../store/tables/stored-records.ts";
import { changesOf, changesVariant, newestListed, variantsOf } from "../../state/sweeps.ts";
import type { RunContext, WholeListSettings } from "../context/run-context.ts";
import { listRequests } from "./sweep-plan.ts";

/** What is known of a resource's whole list. */
interface WholeListFacts {
  readonly name: string;
  /** When its last reading began, epoch ms; null: it was never read whole. */
  readonly readAtMs: number | null;
  /** What reading it takes. */
  readonly requests: number;
}

/**
 * Which whole lists a run reads, because they show deletions and what changed without a new time stamp. Those never read
 * always, then the stalest that are due, while the requests suffice: one that is left out comes first the next time. Pure.
 */
export function planWholeLists(
  lists: readonly WholeListFacts[],
  { everyMs, mostRequests }: WholeListSettings,
  nowMs: number,
): ReadonlySet<string> {
  const chosen = new Set<string>();
  let left = mostRequests ?? Infinity;
  for (const { name, readAtMs, requests } of lists.toSorted(
    (a, b) => (a.readAtMs ?? 0) - (b.readAtMs ?? 0),
  )) {
    // One read in the future was read before the clock was set back.
    const isDue = readAtMs !== null && (nowMs - readAtMs >= everyMs || readAtMs > nowMs);
    if (readAtMs !== null && (!isDue || requests > left)) continue;
    chosen.add(name);
    left -= requests;
  }
  return chosen;
}

/** What the mirror knows of the whole list of each resource that has a list of changes. */
function wholeListFacts({ meta, records, runs }: MirrorFacts, resources: readonly Resource[]) {
  return resources
    .filter((resource) => changesOf(resource) !== null)
    .map((resource): WholeListFacts => {
      const { name } = resource;
      const readAt = runs.lastSwept(name);
      // Without a time stamp to begin from there is no list of changes.
      const isKnown = readAt !== null && newestListed(meta, name) !== null;
      const requests = listRequests(resource, records.counts(name).live);
      return { name, readAtMs: isKnown ? Date.parse(readAt) : null, requests };
    });
}

/** What of a mirror says it. */
interface MirrorFacts {
  readonly meta: Meta;
  readonly records: Pick<Records, "counts">;
  readonly runs: Runs;
}

/** The resources of which a run reads the whole list now, although it could read what changed. */
export function wholeListsNow(
  facts: MirrorFacts,
  resources: readonly Resource[],
  {
    settings = everyRun,
    nowMs,
  }: { readonly settings?: WholeListSettings | undefined; readonly nowMs: number },
): ReadonlySet<string> {
  return planWholeLists(wholeListFacts(facts, resources), settings, nowMs);
}

/** By resource, the lists that this run reads: `variantsOf`, or the list of changes. */
export function chooseLists(run: RunContext): (resource: Resource) => readonly string[] {
  const { mirror, runs, resources, wholeLists: settings, full, queue, startedAtMs } = run;
  const facts = { meta: mirror.meta, records: mirror.records, runs };
  const whole = wholeListsNow(facts, resources, { settings, nowMs: startedAtMs });
  warnOfOverdue(run, wholeListFacts(facts, resources), whole);
  const isOpen = (name: string, variant: string) => queue.isAnyReady(name, `page:${variant}:`);
  return (resource) => {
    const { name } = resource;
    if (changesOf(resource) === null || full || isOpen(name, "")) return variantsOf(resource);
    return isOpen(name, changesVariant) || !whole.has(name) ? [changesVariant] : variantsOf(resource);
  };
}

/** A whole list that was due twice over is missed because the month's calls do not suffice for it. */
function warnOfOverdue(
  { log, wholeLists, startedAtMs }: RunContext,
  lists: readonly WholeListFacts[],
  chosen: ReadonlySet<string>,
): void {
  const everyMs = wholeLists?.everyMs ?? Infinity;
  const overdue = lists.filter(
    ({ name, readAtMs }) => readAtMs !== null && !chosen.has(name) && startedAtMs - readAtMs >= 2 * everyMs,
  );
  for (const { name, requests } of overdue)
    log.warn(
      `${name}: the whole list is overdue, and deletions are not seen: the month's calls do not suffice`,
      { requests },
    );
}

const everyRun: WholeListSettings = { everyMs: 0, mostRequests: null };
