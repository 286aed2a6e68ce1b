import type { Random } from "../../../../src/base/random.ts";
import type { Fault, FaultAct, FaultKind } from "./fault.ts";

export interface FaultTarget {
  readonly method: string;
  readonly path: string;
  readonly company: number | null;
}

interface Armed {
  readonly fault: Fault;
  seen: number;
  struck: number;
}

/** The faults in force, and whom each of them strikes. */
export class FaultPlan {
  readonly #random: Random;
  #armed: Armed[] = [];

  constructor(random: Random, faults: readonly Fault[]) {
    this.#random = random;
    for (const fault of faults) this.add(fault);
  }

  /** Returns a function that takes the fault away again. */
  add(fault: Fault): () => void {
    const armed = { fault, seen: 0, struck: 0 };
    this.#armed.push(armed);
    return () => {
      this.#armed = this.#armed.filter((other) => other !== armed);
    };
  }

  clear(): void {
    this.#armed = [];
  }

  /** What this request has to suffer. */
  strike(target: FaultTarget): Struck {
    return new Struck(this.#armed.filter((armed) => this.#hits(armed, target)).map(({ fault }) => fault));
  }

  #hits(armed: Armed, target: FaultTarget): boolean {
    const { fault } = armed;
    if (!matches(fault, target)) return false;
    armed.seen++;
    if (armed.seen <= (fault.after ?? 0) || armed.struck >= (fault.times ?? Number.POSITIVE_INFINITY))
      return false;
    if (this.#random.next() >= (fault.probability ?? 1)) return false;
    armed.struck++;
    return true;
  }
}

function matches({ match = {} }: Fault, { method, path, company }: FaultTarget): boolean {
  const { path: wanted } = match;
  const pathFits =
    wanted === undefined || (typeof wanted === "string" ? path.startsWith(wanted) : wanted.test(path));
  return (
    pathFits &&
    (match.method === undefined || match.method === method) &&
    (match.company === undefined || match.company === company)
  );
}

/** The faults of one request, by kind. */
export class Struck {
  readonly #acts: readonly FaultAct[];

  constructor(acts: readonly FaultAct[]) {
    this.#acts = acts;
  }

  get<K extends FaultKind>(kind: K): Extract<FaultAct, { kind: K }> | undefined {
    return this.#acts.find((act): act is Extract<FaultAct, { kind: K }> => act.kind === kind);
  }

  all<K extends FaultKind>(kind: K): Extract<FaultAct, { kind: K }>[] {
    return this.#acts.filter((act): act is Extract<FaultAct, { kind: K }> => act.kind === kind);
  }

  has(kind: FaultKind): boolean {
    return this.get(kind) !== undefined;
  }

  get latencyMs(): number {
    return this.all("latency").reduce((sum, { latencyMs }) => sum + latencyMs, 0);
  }
}
