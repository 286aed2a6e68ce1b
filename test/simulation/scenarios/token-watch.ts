import { seededRandom } from "../../support/seeded-random.ts";
import {
  beforeToken,
  foreignRecords,
  foreignTokenMistakes,
  ownTokenMistakes,
  type MirrorBefore,
} from "../checks/identity.ts";
import type { MirrorContents } from "../checks/mirror-contents.ts";
import type { SimulatedMachine } from "../machine/simulated-machine.ts";
import type { EndedRun } from "../machine/ended-run.ts";
import { SimulatedService } from "../service/simulated-service.ts";
import type { Scenario, TokenKind } from "./scenario.ts";

/** A process that is about to ask with a token. */
interface Asking {
  readonly kind: TokenKind;
  readonly activity: "sync" | "serve";
  readonly before: MirrorBefore;
  readonly sinceMs: number;
  readonly isForced: boolean;
}

/** Gives processes their tokens, and judges what these did to the mirror (I10). */
export class TokenWatch {
  /** Nobody could prove that the token is the same company's, so runs override the check. */
  isForced = false;
  private readonly machine: SimulatedMachine;
  private readonly scenario: Scenario;
  /** No run was accepted since the token was replaced. */
  private isUnproven = false;

  constructor(machine: SimulatedMachine, scenario: Scenario) {
    this.machine = machine;
    this.scenario = scenario;
  }

  /** From now on runs override the check, if none was accepted since the token was replaced. */
  overrideIdentity(): void {
    this.isForced ||= this.isUnproven;
  }

  /** The token of the next process, and what to compare with afterwards; a mirror of nobody asks with its own. */
  begin(
    wanted: TokenKind,
    activity: "sync" | "serve",
    mirror: MirrorContents | null,
  ): { token: string; asking: Asking | null } {
    const { tokens, time } = this.machine;
    const before = mirror && beforeToken(mirror, activity);
    if (!before?.pinned) return { token: tokens.own, asking: null };
    this.machine.meet(`token: ${wanted}`);
    if (wanted === "replaced") {
      tokens.replace();
      this.isUnproven = true;
    }
    const kind = wanted === "own" && this.isUnproven ? "replaced" : wanted;
    const asking = { kind, activity, before, sinceMs: time.passedMs, isForced: this.isForced };
    if (kind === "own" || kind === "replaced") return { token: tokens.own, asking };
    return {
      token: tokens.add(this.anotherCompany(kind === "namesake" ? before.pinned.name : "Other")),
      asking,
    };
  }

  /** What the process did that it must not. */
  end(asking: Asking | null, mirror: MirrorContents, runs: readonly EndedRun[]): string[] {
    const { service, tokens } = this.machine;
    const foreign = tokens.foreign.flatMap((one) => foreignRecords(mirror, service, one));
    if (!asking) return foreign;
    const { kind, activity, before, sinceMs, isForced } = asking;
    const outcomes = runs.map(({ report }) => report.outcome);
    if (kind === "foreign" || kind === "namesake")
      return [...foreign, ...foreignTokenMistakes(mirror, before, activity, outcomes)];
    const isRefused = outcomes.includes("identity");
    if (outcomes.some((one) => one === "complete" || one === "partial")) this.isUnproven = false;
    if (isRefused) this.isForced = true;
    if (isRefused) this.machine.meet("token refused until a run overrides the check");
    const asked = { token: kind, isRefused, isForced, sinceMs };
    return [...foreign, ...ownTokenMistakes(mirror, before, service, asked)];
  }

  private anotherCompany(name: string): SimulatedService {
    const { scenario, machine } = this;
    const random = seededRandom(scenario.seed + 3);
    const key = `x${machine.tokens.foreign.length}`;
    return new SimulatedService({ ...scenario.service, random, clock: machine.time, name, key, lag: "none" });
  }
}
