import { codeOfEnding } from "../../../src/cli/program/exit-code.ts";
import { dump, type Db } from "../../support/truth/compare.ts";
import type { TokenKind } from "../scenarios/scenario.ts";
import type { Witness } from "../service/service-truth.ts";
import type { TableName } from "../service/service-types.ts";
import type { MirrorContents } from "./mirror-contents.ts";

/** The company that a mirror belongs to, as it says itself. */
interface PinnedCompany {
  readonly name: string;
  readonly salt: string;
  readonly businessId: string | null;
}

/** A mirror before a process asks with a token. */
export interface MirrorBefore {
  readonly pinned: PinnedCompany | null;
  /** What a token of another company must leave as it is. */
  readonly content: ReadonlyMap<string, string>;
  /** Would any invoice of the mirror, asked for from now on, prove the company? Null where it has none. */
  readonly invoices: readonly number[];
}

/** What the mirror holds before the process. */
export function beforeToken(mirror: MirrorContents, kind: "sync" | "serve"): MirrorBefore {
  const invoices = [...mirror.records("invoices").values()].filter(({ isDeleted }) => !isDeleted);
  return {
    pinned: pinnedIn(mirror.db),
    content: contentOf(mirror, kind),
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
  const after = contentOf(mirror, kind);
  const changed = [...after].filter(([table, rows]) => rows !== before.content.get(table));
  const codes = outcomes
    .filter((outcome) => outcome !== "stopped")
    .map((outcome) => codeOfEnding(outcome, null))
    .filter((code) => code !== 4);
  return [
    ...codes.map((code) => `I10 a token of another company: exit code ${code}`),
    ...changed.map(([table]) => `I10 a token of another company changed ${table}`),
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

/** Each table with its rows. Beside `serve` events come in, whoever the token is of: then only what is of records. */
function contentOf({ db }: MirrorContents, kind: "sync" | "serve"): ReadonlyMap<string, string> {
  const tables = Object.entries(dump(db.name, []));
  const kept = kind === "sync" ? tables : tables.filter(([table]) => !/^_(?!raw_|fence_)/.test(table));
  return new Map(kept.map(([table, rows]) => [table, rows.join("\n")]));
}

/** I10: records that are another company's. */
export function foreignRecords(mirror: MirrorContents, own: Witness, foreign: Witness): string[] {
  return [...mirror.everyRecord()]
    .filter(({ table, id, json }) => showed(foreign, table, id, json) && !showed(own, table, id, json))
    .map(({ table, id }) => `I10 ${table} ${id}: of another company`);
}

function showed({ company }: Witness, table: TableName, id: number, json: string | null): boolean {
  return company.log.history(table, id).some(({ shown }) => shown?.detail === json || shown?.listed === json);
}
