import pc from "picocolors";
import { formatCount, formatDuration } from "../base/units.ts";
import { etaMs, type ProgressView, type ResourceProgress } from "./progress-view.ts";

/** The room there is. */
export interface TextOptions {
  readonly columns: number;
  /** Lines, at most. */
  readonly rows: number;
  readonly colour: boolean;
}

/** The live block: a head, a line for each resource in work, a line with budget, queue and time left. */
export function progressLines(view: ProgressView, { columns, rows, colour }: TextOptions): string[] {
  const paint = pc.createColors(colour);
  const cut = (text: string) =>
    text.length < columns ? text : `${text.slice(0, Math.max(0, columns - 2))}…`;
  const room = Math.max(1, rows - 3);
  const shown = shownResources(view.resources, room);
  const nameWidth = Math.max(0, ...shown.map((resource) => resource.name.length));
  const lines = shown.map((resource) => {
    const line = cut(`  ${resourceLine(resource, nameWidth)}`);
    if (resource.phase === "failed") return paint.red(line);
    return resource.phase === "done" ? paint.dim(line) : line;
  });
  const last = view.outage ? outageLine(view.outage) : budgetLine(view);
  return [paint.bold(cut(headLine(view))), ...lines, paint.cyan(cut(`  ${last}`))];
}

function headLine(view: ProgressView): string {
  const count = (phase: ResourceProgress["phase"]) =>
    view.resources.filter((resource) => resource.phase === phase).length;
  const failed = count("failed") === 0 ? "" : `, ${count("failed")} failed`;
  const done = `${count("done")} of ${view.resources.length} resources done${failed}`;
  const { scrub } = view;
  const phase = scrub
    ? `everything listed is in; scrub: ${formatCount(scrub.done)} of ${formatCount(scrub.planned)}${failed}`
    : done;
  return `${view.company}  ${formatDuration(view.elapsedMs)}  ${phase}`;
}

const interest = { failed: 0, reading: 1, listing: 1, done: 2, waiting: 3 } as const;

/** The resources with most interest that fit, in the order of the run; waiting ones are only counted in the head. */
function shownResources(resources: readonly ResourceProgress[], room: number): readonly ResourceProgress[] {
  const begun = resources.filter((resource) => resource.phase !== "waiting");
  const kept = begun
    .map((resource, index) => ({ resource, index }))
    .toSorted((a, b) => interest[a.resource.phase] - interest[b.resource.phase] || b.index - a.index)
    .slice(0, room);
  return kept.toSorted((a, b) => a.index - b.index).map(({ resource }) => resource);
}

function resourceLine(resource: ResourceProgress, nameWidth: number): string {
  const { name, phase, done, total, changed } = resource;
  const amount = total === null ? String(done) : `${done} of ${total}`;
  const percent =
    total === null || total === 0 || phase === "done" ? "" : ` ${Math.floor((done / total) * 100)}%`;
  const change = changed === 0 ? "" : `  ${changed} changed`;
  return `${name.padEnd(nameWidth)}  ${phase.padEnd(7)}  ${amount}${percent}${change}`;
}

function outageLine({ forMs, nextTryMs, givesUpMs, error }: NonNullable<ProgressView["outage"]>): string {
  const next = `next try in ${formatDuration(nextTryMs)}, gives up in ${formatDuration(givesUpMs)}`;
  return `no answer from the service for ${formatDuration(forMs)} · ${next} · ${error}`;
}

function budgetLine(view: ProgressView): string {
  const { limit, remaining, waitMs } = view.budget;
  const budget = limit === null ? "budget not known yet" : `budget ${remaining ?? "?"} of ${limit}`;
  const wait = waitMs >= 1000 ? `, next request in ${formatDuration(waitMs)}` : "";
  const left = etaMs(view);
  const eta = left === null || view.queued === 0 ? "" : ` · about ${formatDuration(left)} left`;
  return `${budget}${wait} · ${view.requests} requests made, ${view.queued} queued${eta}`;
}
