import pc from "picocolors";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import { terminalText } from "../base/terminal-text.ts";
import { formatCount, formatDuration } from "../base/units.ts";
import {
  etaMs,
  progressFields,
  requestsLeft,
  type ProgressView,
  type ResourceProgress,
} from "./progress-view.ts";
import type { Screen } from "./screen.ts";

export interface ProgressOptions {
  readonly screen: Screen;
  readonly log: Log;
  readonly clock: Clock;
  readonly colour: boolean;
}

/** At a terminal; a third of the rate that would flicker. */
const drawEveryMs = 200;
/** Without a terminal; shorter work logs nothing. */
const logEveryMs = 20_000;

/**
 * Does `work` and shows the progress that `read` returns: a live block at a terminal, log lines elsewhere. The plan of each
 * run is logged once, as soon as its lists have shown how long they are.
 */
export function withProgress<T>(
  options: ProgressOptions,
  read: () => readonly ProgressView[],
  work: () => Promise<T>,
): Promise<T> {
  const { screen, log, clock, colour } = options;
  const startedMs = clock.monotonicMs();
  const planned = new Set<string>();
  const readPlanned = () => {
    const views = read();
    for (const view of views) logPlan(view, planned, log);
    return views;
  };
  const draw = () => {
    const { columns, rows } = screen;
    screen.block(progressBlock(readPlanned(), { columns, rows, colour }));
  };
  const logViews = () => {
    const views = readPlanned();
    for (const view of views) log.info("progress", progressFields(view));
    const elapsedMs = clock.monotonicMs() - startedMs;
    if (views.length === 0) log.info(`still at work, for ${formatDuration(elapsedMs)}`);
  };
  return screen.live
    ? repeatDuring(options, drawEveryMs, draw, work)
    : repeatDuring(options, logEveryMs, logViews, work);
}

function logPlan(view: ProgressView, planned: Set<string>, log: Log): void {
  const { ahead, company } = view;
  if (planned.has(company) || view.scrub || !ahead?.isKnown || view.budget.limit === null) return;
  if (view.requests <= 1 || ahead.lists + ahead.details === 0) return;
  planned.add(company);
  log.info(planText(view), { requests: requestsLeft(view), eta_ms: etaMs(view) });
}

/** Does `work` and shows lines at a terminal; without one they are logged, as far as there are any. */
export function withLines<T>(
  options: Omit<ProgressOptions, "colour">,
  read: () => readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  const { screen, log } = options;
  const draw = () => screen.block(read().map((line) => line.slice(0, screen.columns - 1)));
  const logLines = () => {
    for (const line of read()) log.info(line.trim());
  };
  return screen.live
    ? repeatDuring(options, drawEveryMs, draw, work)
    : repeatDuring(options, logEveryMs, logLines, work);
}

async function repeatDuring<T>(
  { screen, clock }: Pick<ProgressOptions, "screen" | "clock">,
  everyMs: number,
  step: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const repeat = async () => {
    for (;;) {
      await clock.sleep(everyMs, end.signal);
      if (end.signal.aborted) return;
      step();
    }
  };
  const repeating = repeat();
  try {
    return await work();
  } finally {
    end.abort();
    await repeating;
    screen.close();
  }
}

interface TextOptions {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
}

/** With less room, a company has one line. */
const leastRows = 4;

/** The live block of all runs, never wider or higher than the terminal. Pure. */
export function progressBlock(views: readonly ProgressView[], options: TextOptions): string[] {
  const rows = options.rows - 1;
  const rowsEach = Math.floor(rows / Math.max(1, views.length));
  if (rowsEach >= leastRows)
    return views.flatMap((view) => progressLines(view, { ...options, rows: rowsEach }));
  const shown = views.length > rows ? views.slice(0, Math.max(0, rows - 1)) : views;
  const nameWidth = Math.max(0, ...shown.map(({ company }) => company.length));
  const lines = shown.map((view) => {
    const left = timeLeft(view);
    const parts = [view.company.padEnd(nameWidth), phaseText(view), ...(left === null ? [] : [left])];
    return cut(parts.join("  "), options);
  });
  const more = views.length - shown.length;
  return more > 0 ? [...lines, cut(`and ${more} more companies`, options)] : lines;
}

/** The lines of one run: its phase, the tables in work, and how long it takes at the rate that is granted. Pure. */
function progressLines(view: ProgressView, options: TextOptions): string[] {
  const paint = pc.createColors(options.colour);
  const shown = shownResources(view, Math.max(1, options.rows - 2));
  const nameWidth = Math.max(0, ...shown.map(({ name }) => name.length));
  const lines = shown.map((resource) => {
    const line = cut(`  ${resource.name.padEnd(nameWidth)}  ${resourceText(resource)}`, options);
    if (resource.phase === "failed") return paint.red(line);
    return resource.phase === "done" ? paint.dim(line) : line;
  });
  const head = `${view.company}  ${formatDuration(view.elapsedMs)}  ${phaseText(view)}`;
  const last = view.outage ? outageText(view.outage) : paceText(view);
  return [paint.bold(cut(head, options)), ...lines, paint.cyan(cut(`  ${last}`, options))];
}

function cut(text: string, { columns }: TextOptions): string {
  return text.length < columns ? text : `${text.slice(0, Math.max(0, columns - 2)).toWellFormed()}…`;
}

/** What the run is at: lists, then what is provisional, then the scrub. */
function phaseText(view: ProgressView): string {
  const { resources, ahead, scrub } = view;
  const count = (phase: ResourceProgress["phase"]) => resources.filter((one) => one.phase === phase).length;
  const failed = count("failed") === 0 ? "" : `, ${count("failed")} failed`;
  if (scrub) {
    const done = `${formatCount(scrub.done)} of ${formatCount(scrub.planned)}`;
    return `everything listed is in; proving details: ${done}, Ctrl-C loses nothing${failed}`;
  }
  if (!ahead) return `${count("done")} of ${resources.length} tables done${failed}`;
  if (ahead.lists > 0)
    return `reading lists: ${resources.length - ahead.openLists} of ${resources.length} in${failed}`;
  if (ahead.details > 0) return `every list is in; ${formatCount(ahead.details)} still provisional${failed}`;
  return view.requests > 1 ? `everything listed is in${failed}` : "asking whose the token is";
}

const interest = { failed: 0, reading: 1, listing: 1, done: 2, waiting: 3 } as const;

/** The resources with most interest that fit, in the order of the run; those that wait are only counted in the head. */
function shownResources({ resources, ahead }: ProgressView, room: number): readonly ResourceProgress[] {
  const hides = ahead?.openLists === 0 ? ["waiting", "done"] : ["waiting"];
  const begun = resources.filter((one) => !hides.includes(one.phase) && !isUnread(one));
  const kept = begun
    .map((resource, index) => ({ resource, index }))
    .toSorted((a, b) => interest[a.resource.phase] - interest[b.resource.phase] || b.index - a.index)
    .slice(0, room);
  return kept.toSorted((a, b) => a.index - b.index).map(({ resource }) => resource);
}

/** Its first answer is not there yet. */
function isUnread({ phase, done, total, waiting = 0 }: ResourceProgress): boolean {
  return phase === "listing" && done === 0 && total === null && waiting === 1;
}

function resourceText({ phase, done, total, changed, waiting = 0 }: ResourceProgress): string {
  const amount = total === null ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`;
  // In a first run everything is new.
  const more = changed === 0 || changed === done ? "" : `  ${formatCount(changed)} changed`;
  if (phase === "failed") return `${amount}  failed${more}`;
  if (phase === "reading" && total !== null)
    return `${formatCount(Math.max(0, total - done))} of ${formatCount(total)} still provisional${changed === total ? "" : more}`;
  if (phase === "listing" && total === null && waiting > 1)
    return `${formatCount(waiting)} lists to read${more}`;
  return `${phase === "done" ? formatCount(done) : amount}${more}`;
}

function outageText({ forMs, nextTryMs, givesUpMs, error }: NonNullable<ProgressView["outage"]>): string {
  const next = `next try in ${formatDuration(nextTryMs)}, gives up in ${formatDuration(givesUpMs)}`;
  return `no answer from the service for ${formatDuration(forMs)} · ${next} · ${terminalText(error)}`;
}

/** `about 12m left` at the rate that is really granted; null: nothing is known of it, or nothing is left. */
function timeLeft(view: ProgressView): string | null {
  const left = etaMs(view);
  return left === null || left < 1000 ? null : `${aboutOrMore(view)} ${formatDuration(left)} left`;
}

/** A list that has not shown its length may hold any number. */
function aboutOrMore({ ahead }: ProgressView): "about" | "at least" {
  return ahead && !ahead.isKnown ? "at least" : "about";
}

/** The most important first: a narrow terminal shows no more. */
function paceText(view: ProgressView): string {
  const { limit, remaining, waitMs } = view.budget;
  const wait = waitMs >= 1000 ? `, next in ${formatDuration(waitMs)}` : "";
  const budget = limit === null ? "budget not known yet" : `budget ${remaining ?? "?"} of ${limit}${wait}`;
  const left = timeLeft(view);
  const toGo = requestsLeft(view) === 0 ? "" : `, ${formatCount(requestsLeft(view))} to go`;
  const requests = `${formatCount(view.requests)} requests made${toGo}`;
  return [...(left === null ? [] : [left]), budget, requests].join(" · ");
}

/** The plan of a run in one line: requests and minutes at the budget that the service grants. Pure. */
export function planText(view: ProgressView): string {
  const { ahead, budget, windowMs, company } = view;
  const left = etaMs(view);
  const { lists = 0, details = 0 } = ahead ?? {};
  const time = left === null || left < 60_000 ? "less than a minute" : `about ${formatDuration(left)}`;
  const pace = `${time} at ${budget.granted} in ${formatDuration(windowMs)}`;
  const parts = [
    ...(lists > 0 ? [`${formatCount(lists)} for lists`] : []),
    ...(details > 0 ? [`${formatCount(details)} for details`] : []),
  ].join(", ");
  return `${company}: about ${formatCount(lists + details)} requests to make, ${pace} (${parts})`;
}
