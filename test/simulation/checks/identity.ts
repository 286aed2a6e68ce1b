import { codeOfEnding } from "../../../src/cli/program/exit-code.ts";
import type { Db } from "../../support/truth/compare.ts";
import type { TokenKind } from "../scenarios/scenario.ts";
import type { Witness } from "../service/service-truth.ts";
import type { MirrorContents } from "./mirror-contents.ts";
import { changedContent, contentOf, type Content } from "./replay.ts";

/** The company that a mirror belongs to, as it says itself. */
interface PinnedCompany {
  readonly name: string;
  readonly salt: string;
  readonly businessId: string | null;
}

/** A mirror before a process asks with a token. */
export interface MirrorBefore {
  readonly pinned: PinnedCompany | null;
  readonly content: Content;
  /** Would any invoice of the mirror, asked for from now on, prove the company? Null where it has none. */
  readonly invoices: readonly number[];
}

/** What the mirror holds before the process; `kind` decides what must stay. */
export function beforeToken(mirror: MirrorContents, kind: "sync" | "serve"): MirrorBefore {
  const invoices = [...mirror.records("invoices").values()].filter(({ isDeleted }) => !isDeleted);
  return {
    pinned: pinnedIn(mirror.db),
    content: contentOf(mirror, kind === "sync" ? isAny : isOfRecords),
    invoices: invoices.map(({ id }) => id),
  };
}

/**
 * I10: what a token of another company did: it is refused with exit code 4, and nothing is written. A run that is stopped
 * before the service answered knows of no company yet.
 */
export function foreignTokenMistakes(
  mirror: MirrorContents,
  before: MirrorBefore,
  kind: "sync" | "serve",
  outcomes: readonly Parameters<typeof codeOfEnding>[0][],
): string[] {
  const after = contentOf(mirror, kind === "sync" ? isAny : isOfRecords);
  const codes = outcomes
    .filter((outcome) => outcome !== "stopped")
    .map((outcome) => codeOfEnding(outcome, null))
    .filter((code) => code !== 4);
  return [
    ...codes.map((code) => `I10 a token of another company: exit code ${code}`),
    ...changedContent(before.content, after).map((what) => `I10 a token of another company: ${what}`),
  ];
}

/**
 * I10: the company's own token is accepted after a rename; one that replaces it, where the name is the same and any
 * invoice of the mirror would prove it. The salt stays, and the business id where nobody overrode the check.
 *
 * @param sinceMs when the process began
 */
export function ownTokenMistakes(
  mirror: MirrorContents,
  before: MirrorBefore,
  service: Witness,
  asked: {
    readonly token: TokenKind;
    readonly isRefused: boolean;
    readonly isForced: boolean;
    readonly sinceMs: number;
  },
): string[] {
  const { pinned } = before;
  const now = pinnedIn(mirror.db);
  if (!pinned) return [];
  const mustBeTaken = asked.token === "own" || isProvable(service, before, asked.sinceMs);
  const isLost = !asked.isForced && pinned.businessId !== null && now?.businessId === null;
  return [
    ...(asked.isRefused && mustBeTaken ? [`I10 the company's ${asked.token} token is refused`] : []),
    ...(now?.salt === pinned.salt ? [] : ["I10 the mirror's salt is another one"]),
    ...(isLost ? ["I10 the mirror forgot its business id"] : []),
  ];
}

/** Was the company always called this, and is every invoice of the mirror there at any time from then on? */
function isProvable(
  { company, options }: Witness,
  { pinned, invoices }: MirrorBefore,
  sinceMs: number,
): boolean {
  const fromMs = sinceMs - options.lagMs;
  const names = company.log.history("company", 1).map(({ shown }) => shown?.detail);
  const isStill = invoices.every((id) => {
    const history = company.log.history("invoices", id);
    return (history[0]?.fromMs ?? Infinity) <= fromMs && history.every(({ shown }) => shown !== null);
  });
  return (
    isStill && invoices.length > 0 && names.length === 1 && names[0]?.includes(`"${pinned?.name}"`) === true
  );
}

function pinnedIn(db: Db): PinnedCompany | null {
  const text = db.prepare("SELECT value FROM _meta WHERE key = 'identity'").pluck().get();
  return typeof text === "string" ? (JSON.parse(text) as PinnedCompany) : null;
}

function isAny(): boolean {
  return true;
}

/** Beside `serve` events come in, whoever the token is of. */
function isOfRecords(table: string): boolean {
  return !table.startsWith("_") || table.startsWith("_raw_") || table.startsWith("_fence_");
}
