import { hintOf, messageOf } from "../../../base/errors.ts";
import { mirrorFiles } from "../../../config/mirror-files.ts";
import type { ProgressView } from "../../../log/progress.ts";
import type { HandOverCounts } from "../../../state/as-of/hand-overs.ts";
import { InboxView } from "../../../state/inbox/inbox.ts";
import { Runs } from "../../../state/runs.ts";
import { Changes } from "../../../store/apply/change-log.ts";
import type { Db } from "../../../store/database.ts";
import { openReadable } from "../../../store/migrations/migrate.ts";
import type { CompanyStatusView, StatusScope } from "../../company-view.ts";
import type { ReadyLimits } from "../../conditions.ts";
import { readStatus, type StatusQuestion } from "../../read-status.ts";
import type { PageMoment } from "../markup/moments.ts";
import { searchChanges, type ChangeQuestion, type FoundChanges } from "./change-search.ts";

export interface PageCompany {
  readonly scope: StatusScope;
  readonly surroundings: Pick<StatusQuestion, "clock" | "log">;
  /** What earlier pages found. */
  readonly handOvers: HandOverCounts;
  view(): CompanyStatusView;
  /** The run under way; null: none. */
  progress(): ProgressView | null;
}

export type CompanyPageFacts = ReturnType<typeof readPageFacts> & {
  readonly company: string;
  readonly moment: PageMoment;
  readonly limits: ReadyLimits;
  readonly view: CompanyStatusView;
  readonly progress: ProgressView | null;
};

const mostEvents = 10;
const mostRuns = 40;
const mostChanges = 8;

/** Why a mirror cannot be read, and what to do. */
export function whyUnreadable(error: unknown): string {
  const { hint } = hintOf(error);
  return hint === undefined ? messageOf(error) : `${messageOf(error)}. ${hint}`;
}

/** Reads what a page shows of a mirror. Never throws for one that cannot be read: the page says why. */
export function readPageFacts(page: PageCompany, nowMs: number, { freshForMs }: ReadyLimits) {
  const { scope, surroundings, handOvers } = page;
  const readFrom = (db: Db | null) => ({
    /** What `status --json` prints. */
    status: readStatus({ ...scope, ...surroundings, db, maxAgeMs: null, freshForMs, nowMs }),
    /** The latest come first. */
    runs: db ? new Runs(db).latest(mostRuns) : [],
    events: db ? new InboxView(db).list({ most: mostEvents }) : [],
    handOvers: db ? handOvers.read(db, scope.manifest) : [],
    changes: db ? new Changes(db).newestIn({ ...allChanges, most: mostChanges }) : [],
  });
  let db: Db | null = null;
  try {
    db = openMirror(page);
    return { ...readFrom(db), unreadable: null };
  } catch (error) {
    /** Why the mirror's file cannot be read; null: it can. */
    return { ...readFrom(null), unreadable: whyUnreadable(error) };
  } finally {
    db?.close();
  }
}

const allChanges = { fromSeq: 0, beforeSeq: Number.MAX_SAFE_INTEGER, resource: null };

/** Throws MirrorError `database` for a mirror that cannot be read. */
export async function searchMirror(page: PageCompany, question: ChangeQuestion): Promise<FoundChanges> {
  const db = openMirror(page);
  try {
    return db ? await searchChanges(db, question) : { changes: [], nextSeq: null, searched: 0 };
  } finally {
    db?.close();
  }
}

/** Null: there is no mirror yet. */
function openMirror({ scope: { config, company } }: PageCompany): Db | null {
  return openReadable(mirrorFiles(config, company.name).mirror);
}
