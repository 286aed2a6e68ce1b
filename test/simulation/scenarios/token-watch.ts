import { codeOfEnding } from "../../../src/cli/program/exit-code.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { dump, type Db } from "../../support/truth/compare.ts";
import type { MirrorContents } from "../checks/mirror-contents.ts";
import type { EndedRun } from "../machine/ended-run.ts";
import type { SimulatedMachine } from "../machine/simulated-machine.ts";
import type { Witness } from "../service/service-truth.ts";
import { SimulatedService } from "../service/simulated-service.ts";
import type { Scenario, TokenKind } from "./scenario.ts";

/** The company that a mirror belongs to, as it says itself. */
interface PinnedCompany {
  readonly name: string;
  readonly salt: string;
  readonly businessId: string | null;
}

/** A process that is about to ask with a token, and the mirror before it. */
interface Asking {
  readonly kind: TokenKind;
  readonly activity: "sync" | "serve";
  readonly pinned: PinnedCompany;
  /** What a token of another company must leave as it is. */
  readonly content: ReadonlyMap<string, string>;
  /** Ids of the invoices that it holds: each may be asked for to prove the company. */
  readonly invoices: readonly number[];
  readonly sinceMs: number;
  readonly isForced: boolean;
}

/** Gives processes their tokens, and judges what these did to the mirror (I10). */
export class TokenWatch {
  /** Nobody could prove that the token is the same company's, so runs override the check. */
  isForced = false;
  private readonly machine: SimulatedMachine;
  private readonly scenario: Scenario;
  private isReplaced = false;

  constructor(machine: SimulatedMachine, scenario: Scenario) {
    this.machine = machine;
    this.scenario = scenario;
  }

  /** From now on runs override the check, if the token was replaced. */
  overrideIdentity(): void {
    this.isForced ||= this.isReplaced;
  }

  /** The token of the next process, and what to compare with afterwards; a mirror of nobody asks with its own. */
  begin(
    wanted: TokenKind,
    activity: "sync" | "serve",
    mirror: MirrorContents | null,
  ): { token: string; asking: Asking | null } {
    const { tokens, time } = this.machine;
    const pinned = mirror && pinnedIn(mirror.db);
    if (!pinned) return { token: tokens.own, asking: null };
    if (wanted === "replaced") {
      tokens.replace();
      this.isReplaced = true;
    }
    const kind = wanted === "own" && this.isReplaced ? "replaced" : wanted;
    const isForeign = kind === "foreign" || kind === "namesake";
    const token = isForeign ? this.tokenOfAnother(kind === "namesake" ? pinned.name : "Other") : tokens.own;
    const content = contentOf(mirror, activity);
    const held = [...mirror.records("invoices").values()].filter(({ isDeleted }) => !isDeleted);
    const invoices = held.map(({ id }) => id);
    const { isForced } = this;
    return { token, asking: { kind, activity, pinned, content, invoices, sinceMs: time.passedMs, isForced } };
  }

  /** What the process did that it must not. */
  end(asking: Asking | null, mirror: MirrorContents, runs: readonly EndedRun[]): string[] {
    if (!asking) return [];
    const outcomes = runs.map(({ report }) => report.outcome);
    if (asking.kind === "foreign" || asking.kind === "namesake")
      return foreignTokenMistakes(asking, mirror, outcomes);
    const isRefused = outcomes.includes("identity");
    if (isRefused) this.isForced = true;
    return ownTokenMistakes(asking, mirror, this.machine.service, isRefused);
  }

  private tokenOfAnother(name: string): string {
    const { scenario, machine } = this;
    const random = seededRandom(scenario.seed + 3);
    const { time: clock, tokens } = machine;
    return tokens.add(
      new SimulatedService({ ...scenario.service, random, clock, name, key: "x", lag: "none" }),
    );
  }
}

/**
 * I10: what a token of another company did: it is refused with exit code 4, and nothing is written. A run that is stopped
 * before the service answered knows of no company yet.
 */
function foreignTokenMistakes(
  { activity, content }: Asking,
  mirror: MirrorContents,
  outcomes: readonly EndedRun["report"]["outcome"][],
): string[] {
  const after = contentOf(mirror, activity);
  const changed = [...after].filter(([table, rows]) => rows !== content.get(table));
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
 */
function ownTokenMistakes(
  asking: Asking,
  { db }: MirrorContents,
  service: Witness,
  isRefused: boolean,
): string[] {
  const { kind, pinned, isForced } = asking;
  const now = pinnedIn(db);
  const mustBeTaken = kind === "own" || isProvable(service, asking);
  const isLost = !isForced && pinned.businessId !== null && now?.businessId === null;
  return [
    ...(isRefused && mustBeTaken ? [`I10 the company's ${kind} token is refused`] : []),
    ...(now?.salt === pinned.salt ? [] : ["I10 the mirror's salt is another one"]),
    ...(isLost ? ["I10 the mirror forgot its business id"] : []),
  ];
}

/** Was the company always called this, and is every invoice of the mirror there at any time from then on? */
function isProvable({ company, options }: Witness, { pinned, invoices, sinceMs }: Asking): boolean {
  const fromMs = sinceMs - options.lagMs;
  const names = company.log.history("company", 1).map(({ shown }) => shown?.detail);
  const isStill = invoices.every((id) => {
    const history = company.log.history("invoices", id);
    return (history[0]?.fromMs ?? Infinity) <= fromMs && history.every(({ shown }) => shown !== null);
  });
  const isNamed = names.length === 1 && names[0]?.includes(`"${pinned.name}"`) === true;
  return isStill && invoices.length > 0 && isNamed;
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
