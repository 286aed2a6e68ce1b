import type { Random } from "../../../../src/base/random.ts";
import { ActiveFaults, type Fault } from "./fault.ts";

interface FaultTarget {
  readonly method: string;
  readonly path: string;
  readonly company: number | null;
}

/** A fault in force, with how many requests it has matched and affected. */
interface Armed {
  readonly fault: Fault;
  matched: number;
  affected: number;
}

/** The faults in force; chooses those that affect a request. */
export class FaultPlan {
  readonly #random: Random;
  #armed: Armed[] = [];

  constructor(random: Random, faults: readonly Fault[]) {
    this.#random = random;
    for (const fault of faults) this.add(fault);
  }

  /** Returns a function that removes the fault. */
  add(fault: Fault): () => void {
    const armed = { fault, matched: 0, affected: 0 };
    this.#armed.push(armed);
    return () => {
      this.#armed = this.#armed.filter((other) => other !== armed);
    };
  }

  clear(): void {
    this.#armed = [];
  }

  /** Counts the request, and gives the faults that affect it. */
  faultsFor(target: FaultTarget): ActiveFaults {
    const hits = this.#armed.filter((armed) => this.#affects(armed, target));
    return new ActiveFaults(hits.map(({ fault }) => fault));
  }

  #affects(armed: Armed, target: FaultTarget): boolean {
    const { match, after = 0, times = Number.POSITIVE_INFINITY, probability = 1 } = armed.fault;
    if (!matches(match, target)) return false;
    armed.matched++;
    if (armed.matched <= after || armed.affected >= times) return false;
    if (this.#random.next() >= probability) return false;
    armed.affected++;
    return true;
  }
}

function matches(match: Fault["match"], { method, path, company }: FaultTarget): boolean {
  const wanted = match?.path ?? "";
  return (
    (typeof wanted === "string" ? path.startsWith(wanted) : wanted.test(path)) &&
    (match?.method === undefined || match.method === method) &&
    (match?.company === undefined || match.company === company)
  );
}
