import { statSync } from "node:fs";
import { hintOf, messageOf } from "../../../base/errors.ts";
import { mirrorFiles } from "../../../config/mirror-files.ts";
import type { ProgressView } from "../../../log/progress-view.ts";
import { InboxView, type InboxRow } from "../../../state/inbox/inbox-view.ts";
import { Runs, type RunRow } from "../../../state/runs.ts";
import { Changes, type Change } from "../../../store/apply/change-reader.ts";
import type { Db } from "../../../store/database.ts";
import { openReadable } from "../../../store/migrations/migrate.ts";
import type { CompanyStatusView, StatusScope } from "../../company-view.ts";
import type { ReadyLimits } from "../../conditions.ts";
import { readStatus, type CompanyStatus, type StatusQuestion } from "../../read-status.ts";
import { searchChanges, type ChangeQuestion, type FoundChanges } from "./change-search.ts";
import type { Moment } from "../markup/moments.ts";

/** One company as the daemon gives it to its page. */
export interface PageCompany {
  readonly scope: StatusScope;
  readonly surroundings: Pick<StatusQuestion, "clock" | "log">;
  view(): CompanyStatusView;
  /** The run under way; null: none. */
  progress(): ProgressView | null;
}

/** What is read from a mirror. The latest runs, events and changes come first. */
interface MirrorFacts {
  /** What `status --json` prints. */
  readonly status: CompanyStatus;
  readonly runs: readonly RunRow[];
  readonly events: readonly InboxRow[];
  readonly changes: readonly Change[];
}

/** All that a company's page shows. */
export interface CompanyPageFacts extends MirrorFacts {
  readonly company: string;
  readonly moment: Moment;
  readonly limits: ReadyLimits;
  /** What /readyz says. */
  readonly view: CompanyStatusView;
  readonly progress: ProgressView | null;
  /** Why the mirror's file cannot be read; null: it can. */
  readonly unreadable: string | null;
}

const mostEvents = 10;
const mostRuns = 40;
const mostChanges = 8;
const idleMs = 60_000;
/** Where nothing was written, what a mirror says is read again after this time: ages change by themselves. */
const unchangedMs = 60_000;
/** So many times as long as reading a mirror took, it is not read again: one of a million records takes a second. */
const restFactor = 200;

/** What was read, at which state of the mirror, and until when it is not read again. Times are monotonic. */
interface HeldFacts {
  readonly facts: MirrorFacts;
  readonly version: unknown;
  readonly readMs: number;
  readonly restsUntilMs: number;
}

/** What this process has computed so far, ms: unlike the time it took, a busy machine does not change it. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** Why a mirror cannot be read, and what to do. */
export function whyUnreadable(error: unknown): string {
  const { hint } = hintOf(error);
  return hint === undefined ? messageOf(error) : `${messageOf(error)}. ${hint}`;
}

/**
 * Reads what the pages of one company show, on a connection of its own that can only read. The mirror is read again when
 * something was committed since.
 */
export class FactsReader {
  private readonly company: string;
  private open: { readonly db: Db; readonly inode: number | undefined } | null = null;
  private held: HeldFacts | null = null;

  /** Open only while somebody looks: hundreds of companies would hold hundreds of files. */
  private readonly idle = setTimeout(() => this.close(), idleMs).unref();

  constructor(company: string) {
    this.company = company;
  }

  /** Never throws for a mirror that cannot be read: the page says why. */
  read(page: PageCompany, moment: Moment, limits: ReadyLimits): CompanyPageFacts {
    const view = page.view();
    const common = { company: this.company, moment, limits, view, progress: page.progress() };
    try {
      return { ...common, ...this.mirrorFacts(page, moment, limits), unreadable: null };
    } catch (error) {
      this.close();
      const status = statusOf(page, null, moment, limits);
      return { ...common, status, ...noLists, unreadable: whyUnreadable(error) };
    }
  }

  /** Throws MirrorError `database` for a mirror that cannot be read. */
  async search(page: PageCompany, question: ChangeQuestion): Promise<FoundChanges> {
    const db = this.database(page);
    return db ? searchChanges(db, question) : { changes: [], nextSeq: null, searched: 0 };
  }

  close(): void {
    this.open?.db.close();
    this.open = null;
    this.held = null;
  }

  private mirrorFacts(page: PageCompany, moment: Moment, limits: ReadyLimits): MirrorFacts {
    const db = this.database(page);
    const version: unknown = db?.pragma("data_version", { simple: true });
    const { held } = this;
    const { clock } = page.surroundings;
    const askedMs = clock.monotonicMs();
    const startedMs = cpuMs();
    if (held && db && askedMs < (held.version === version ? held.readMs + unchangedMs : held.restsUntilMs))
      return held.facts;
    const status = statusOf(page, db, moment, limits);
    const facts = { status, ...(db ? readLists(db) : noLists) };
    const readMs = clock.monotonicMs();
    this.held = { facts, version, readMs, restsUntilMs: readMs + (cpuMs() - startedMs) * restFactor };
    return facts;
  }

  /** Null: there is no mirror yet. One that was replaced is opened anew. */
  private database({ scope: { config, company } }: PageCompany): Db | null {
    this.idle.refresh();
    const file = mirrorFiles(config, company.name).mirror;
    const inode = statSync(file, { throwIfNoEntry: false })?.ino;
    if (this.open && this.open.inode === inode) return this.open.db;
    this.close();
    const db = openReadable(file);
    this.open = db && { db, inode };
    return db;
  }
}

const noLists = { events: [], changes: [], runs: [] };

function statusOf(
  { scope, surroundings }: PageCompany,
  db: Db | null,
  { nowMs }: Moment,
  { freshForMs }: ReadyLimits,
): CompanyStatus {
  return readStatus({ ...scope, ...surroundings, db, maxAgeMs: null, freshForMs, nowMs });
}

function readLists(db: Db): Omit<MirrorFacts, "status"> {
  const all = { fromSeq: 0, beforeSeq: Number.MAX_SAFE_INTEGER, resource: null };
  return {
    events: new InboxView(db).list({ most: mostEvents }),
    changes: new Changes(db).newestIn({ ...all, most: mostChanges }),
    runs: new Runs(db).latest(mostRuns),
  };
}
