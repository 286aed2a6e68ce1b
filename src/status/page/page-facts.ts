import { hintOf, messageOf, valueOr } from "../../base/errors.ts";
import type { CompanySettings } from "../../store/mirror-files.ts";
import type { ProgressView } from "../../log/progress.ts";
import type { HandOverCounts } from "../../state/as-of/hand-overs.ts";
import { InboxView } from "../../state/inbox/inbox.ts";
import { Runs } from "../../state/runs.ts";
import { Changes, type Change } from "../../store/apply/change-log.ts";
import type { Db } from "../../store/database.ts";
import { openReadable } from "../../store/migrations/migrate.ts";
import type { CompanyStatusView } from "../company-view.ts";
import { readStatus, type StatusQuestion } from "../read-status.ts";
import type { PageMoment } from "./moments.ts";
import { recordId } from "../../base/ids.ts";

export interface PageCompany {
  readonly settings: CompanySettings;
  readonly context: Pick<StatusQuestion, "clock" | "log">;
  readonly handOvers: HandOverCounts;
  view(): CompanyStatusView;
  progress(): ProgressView | null;
}

export type CompanyPageFacts = ReturnType<typeof readPageFacts>;

const mostEvents = 10;
const mostRuns = 40;
const mostChanges = 8;

export function whyUnreadable(error: unknown): string {
  const { hint } = hintOf(error);
  return hint === undefined ? messageOf(error) : `${messageOf(error)}. ${hint}`;
}

/** Reads what a page shows of a mirror. Never throws for one that cannot be read: the page says why. */
export function readPageFacts(page: PageCompany, moment: PageMoment) {
  const { settings, context, handOvers } = page;
  const { nowMs } = moment;
  const live = { view: page.view(), progress: page.progress() };
  const readFrom = (db: Db | null) => ({
    company: settings.company.name,
    moment,
    ...live,
    status: readStatus({ ...settings, ...context, db, maxAgeMs: null, nowMs }),
    /** The latest come first. */
    runs: db ? new Runs(db).latest(mostRuns) : [],
    events: db ? new InboxView(db).list({ most: mostEvents }) : [],
    handOvers: db ? handOvers.read(db, settings.declaration) : [],
    changes: db ? new Changes(db).newestBefore(Number.MAX_SAFE_INTEGER, mostChanges) : [],
  });
  try {
    using db = openReadable(settings.files.mirror);
    return { ...readFrom(db), unreadable: null };
  } catch (error) {
    /** Why the mirror's file cannot be read; null: it can. */
    return { ...readFrom(null), unreadable: whyUnreadable(error) };
  }
}

/** Throws MirrorError `database` for a mirror that cannot be read. */
export async function searchMirror(page: PageCompany, question: ChangeQuestion): Promise<FoundChanges> {
  using db = openReadable(page.settings.files.mirror);
  return db ? await searchChanges(db, question) : { changes: [], nextSeq: null, searched: 0 };
}

export interface ChangeQuestion {
  /** A number is a record's id, or stands in the text of a record; "": anything. */
  readonly text: string;
  /** Null: all. */
  readonly resource: string | null;
  /** Only changes before this one; null: all. */
  readonly beforeSeq: number | null;
}

export type FoundChanges = Awaited<ReturnType<typeof searchChanges>>;

/** What one search may cost: further ones go on where it ended. */
const searchLimits = { found: 30, steps: 200, perStep: 100, ms: 300 };

/** Searches the newest changes first, in steps: whatever else the thread has to do comes between them. */
export async function searchChanges(db: Db, question: ChangeQuestion) {
  const log = new Changes(db);
  const first = log.firstSeq();
  const untilMs = performance.now() + searchLimits.ms;
  const changes: Change[] = [];
  let beforeSeq = Math.min(question.beforeSeq ?? Infinity, log.lastSeq() + 1);
  let searched = 0;
  const isFull = () => changes.length >= searchLimits.found;
  for (let step = 0; beforeSeq > first && step < searchLimits.steps && !isFull(); step++) {
    if (performance.now() >= untilMs) break;
    for (const change of log.newestBefore(beforeSeq, searchLimits.perStep)) {
      if (isFull()) break;
      searched += 1;
      beforeSeq = change.seq;
      if (isAsked(change, question)) changes.push(change);
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  /** `nextSeq`: where to go on; null: everything was searched. */
  return { changes, nextSeq: beforeSeq > first ? beforeSeq : null, searched };
}

function isAsked(change: Change, { text, resource }: ChangeQuestion): boolean {
  const wanted = text.trim().toLowerCase();
  if (resource !== null && change.resource !== resource) return false;
  return wanted === "" || change.recordId === recordId(wanted) || textOf(change).includes(wanted);
}

/** Of the record before and after; a service may send letters as `\u017e`. */
function textOf({ before, after }: Change): string {
  return [before, after]
    .map((json) => plain(json ?? ""))
    .join("\n")
    .toLowerCase();
}

function plain(json: string): string {
  return /\\[u/]/.test(json) ? valueOr(() => JSON.stringify(JSON.parse(json)), json) : json;
}
