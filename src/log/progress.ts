import pc from "picocolors";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/logger.ts";
import { terminalText } from "../base/terminal-text.ts";
import { formatCount, formatDuration } from "../base/units.ts";
import type { Screen } from "./screen.ts";
import type { BudgetView } from "../rate-limit/permit.ts";

interface ProgressOptions {
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
  const draw = () =>
    screen.block(progressBlock(readPlanned(), { columns: screen.columns, rows: screen.rows, colour }));
  const logViews = () => {
    const views = readPlanned();
    for (const view of views) log.info("progress", progressFields(view));
    const elapsedMs = clock.monotonicMs() - startedMs;
    if (views.length === 0) log.info(`still at work, for ${formatDuration(elapsedMs)}`);
  };
  return repeatDuring(options, draw, logViews, work);
}

function logPlan(view: ProgressView, planned: Set<string>, log: Log): void {
  const { ahead, company } = view;
  if (planned.has(company) || view.scrub || !ahead?.isKnown || view.budget.limit === null) return;
  if (view.requests <= 1 || ahead.lists + ahead.details === 0) return;
  planned.add(company);
  log.info(planText(view), { requests: requestsLeft(view), eta_ms: etaMs(view) });
}

/** Takes what makes the line that is shown from now on. */
export type ShowLine = (line: () => string) => void;

/** Does `work` and shows the line that it gave last at a terminal; without one it is logged. */
export function withLine<T>(
  options: Omit<ProgressOptions, "colour">,
  work: (show: ShowLine) => Promise<T>,
): Promise<T> {
  const { screen, log } = options;
  let shown: (() => string) | null = null;
  const read = () => (shown === null ? [] : [shown()]);
  const draw = () => screen.block(read().map((line) => line.slice(0, screen.columns - 1)));
  const logLine = () => read().forEach((line) => log.info(line));
  return repeatDuring(options, draw, logLine, () => work((line) => (shown = line)));
}

async function repeatDuring<T>(
  { screen, clock }: Pick<ProgressOptions, "screen" | "clock">,
  draw: () => void,
  log: () => void,
  work: () => Promise<T>,
): Promise<T> {
  const end = new AbortController();
  const repeat = async () => {
    for (;;) {
      await clock.sleep(screen.live ? drawEveryMs : logEveryMs, end.signal);
      if (end.signal.aborted) return;
      if (screen.live) draw();
      else log();
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

type TextOptions = Pick<Screen, "columns" | "rows"> & Pick<ProgressOptions, "colour">;

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
    const parts = [view.company.padEnd(nameWidth), phaseText(view), timeLeft(view)];
    return cut(parts.filter((part) => part !== null).join("  "), options);
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
  if (ahead.details > 0) return `every list is in; ${formatCount(ahead.details)} still to be read${failed}`;
  return view.requests > 1 ? `everything listed is in${failed}` : "asking whose the token is";
}

const interest = { failed: 0, reading: 1, listing: 1, done: 2, waiting: 3 } as const;

/** The resources with most interest that fit, in the order of the run; those that wait are only counted in the head. */
function shownResources({ resources, ahead }: ProgressView, room: number): readonly ResourceProgress[] {
  const hides = ahead?.openLists === 0 ? ["waiting", "done"] : ["waiting"];
  // Its first answer is not there yet.
  const isUnread = ({ phase, done, total, waiting }: ResourceProgress) =>
    phase === "listing" && done === 0 && total === null && waiting === 1;
  const begun = resources.filter((one) => !hides.includes(one.phase) && !isUnread(one));
  // Of those with the same interest the last ones.
  const byInterest = begun.toReversed().toSorted((a, b) => interest[a.phase] - interest[b.phase]);
  const kept = new Set(byInterest.slice(0, room));
  return begun.filter((one) => kept.has(one));
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

function outageText(outage: NonNullable<ProgressView["outage"]>): string {
  const next = `next try in ${formatDuration(outage.next_try_ms)}, gives up in ${formatDuration(outage.gives_up_ms)}`;
  return `no answer from the service for ${formatDuration(outage.for_ms)} · ${next} · ${terminalText(outage.error)}`;
}

/** `about 12m left` at the rate that is really granted; null: nothing is known of it, or nothing is left. */
function timeLeft(view: ProgressView): string | null {
  const left = etaMs(view);
  if (left === null || left < 1000) return null;
  // A list that has not shown its length may hold any number.
  return `${view.ahead?.isKnown === false ? "at least" : "about"} ${formatDuration(left)} left`;
}

/** The most important first: a narrow terminal shows no more. */
function paceText(view: ProgressView): string {
  const { limit, remaining, waitMs } = view.budget;
  const wait = waitMs >= 1000 ? `, next in ${formatDuration(waitMs)}` : "";
  const budget = limit === null ? "budget not known yet" : `budget ${remaining ?? "?"} of ${limit}${wait}`;
  const toGo = requestsLeft(view) === 0 ? "" : `, ${formatCount(requestsLeft(view))} to go`;
  const requests = `${formatCount(view.requests)} requests made${toGo}`;
  return [timeLeft(view), budget, requests].filter((part) => part !== null).join(" · ");
}

/** The plan of a run in one line: requests and minutes at the budget that the service grants. Pure. */
function planText(view: ProgressView): string {
  const { budget, windowMs, company } = view;
  const left = etaMs(view);
  const { lists = 0, details = 0 } = view.ahead ?? {};
  const time = left === null || left < 60_000 ? "less than a minute" : `about ${formatDuration(left)}`;
  const pace = `${time} at ${budget.granted} in ${formatDuration(windowMs)}`;
  const parts = `${formatCount(lists)} for lists, ${formatCount(details)} for details`;
  return `${company}: about ${formatCount(lists + details)} requests to make, ${pace} (${parts})`;
}

export interface ProgressView {
  readonly company: string;
  readonly elapsedMs: number;
  /** In the order of the run. */
  readonly resources: readonly ResourceProgress[];
  readonly requests: number;
  readonly queued: number;
  /** What the run still makes before the scrub. Absent: it is no run that reads a mirror's lists. */
  readonly ahead?: RequestsAhead;
  /** Everything listed is in, and this is read again for what lists do not show; null: not yet. */
  readonly scrub: { readonly done: number; readonly planned: number } | null;
  readonly budget: BudgetView;
  readonly windowMs: number;
  /** Set while the run waits for a service that is away; times count from or to now. */
  readonly outage?: {
    readonly for_ms: number;
    readonly next_try_ms: number;
    readonly gives_up_ms: number;
    readonly error: string;
  } | null;
}

/** Requests of a run before its scrub, with those that pages still to be read will show. */
export interface RequestsAhead {
  readonly lists: number;
  readonly openLists: number;
  /** Details, and lists of parents. */
  readonly details: number;
  /** Every list that is being read has shown its length. */
  readonly isKnown: boolean;
}

export interface ResourceProgress {
  readonly name: string;
  readonly phase: "waiting" | "listing" | "reading" | "done" | "failed";
  /** Records seen (while listing) or read in full (while reading). */
  readonly done: number;
  /** null while it is not known. */
  readonly total: number | null;
  readonly changed: number;
  readonly waiting?: number;
}

/** With fewer requests the pace of the run says little. */
const paceFromRequests = 30;

function requestsLeft({ queued, ahead, scrub }: ProgressView): number {
  return scrub || !ahead ? queued : Math.max(queued, ahead.lists + ahead.details);
}

/**
 * Time until nothing is left to request, ms: by the budget that is granted or the pace so far, whichever is slower; null
 * before the service has named a limit.
 */
export function etaMs(view: ProgressView): number | null {
  const { budget, windowMs, requests, elapsedMs } = view;
  const left = requestsLeft(view);
  if (left === 0) return 0;
  if (budget.limit === null || budget.granted <= 0) return null;
  const paceMs = requests < paceFromRequests ? 0 : Math.round((left * elapsedMs) / requests);
  const atOnce = Math.max(0, budget.remaining ?? 0);
  const later = left - atOnce;
  if (later <= 0) return Math.max(budget.waitMs, paceMs);
  const nextWindowMs = atOnce > 0 ? windowMs : budget.waitMs;
  return Math.max(paceMs, nextWindowMs + (Math.ceil(later / budget.granted) - 1) * windowMs);
}

/** The state as fields of a log line. */
export function progressFields(view: ProgressView): Readonly<Record<string, unknown>> {
  const resources = view.resources
    .filter(({ phase }) => phase !== "waiting" && phase !== "done")
    .map(({ name, ...facts }) => [name, facts]);
  return {
    company: view.company,
    elapsed_ms: Math.round(view.elapsedMs),
    requests: view.requests,
    queued: view.queued,
    ...(view.ahead && { requests_ahead: requestsLeft(view), details_ahead: view.ahead.details }),
    ...(view.scrub && { phase: "scrub: everything listed is in", scrub: view.scrub }),
    eta_ms: etaMs(view),
    budget: { limit: view.budget.limit, remaining: view.budget.remaining, wait_ms: view.budget.waitMs },
    ...(view.outage && { service_away: view.outage }),
    resources: Object.fromEntries(resources) as Record<string, unknown>,
  };
}
