import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";

/** Thrown where a mutant makes a loop that does not end. */
class TooLong extends Error {}

/**
 * Which mutant is at work in this process, and which ones the code has met.
 * The instrumented code asks `isMutated(id)` wherever it holds a mutant.
 */
export class MutantSwitch {
  active = 0;
  /** At work whenever no try says otherwise. */
  lasting = 0;
  met = new Set<number>();
  asked = 0;
  most = Infinity;
  /** Mutants met while modules were loaded: they may have done their work before a test began. */
  readonly metLoading = new Set<number>();
  private isLoading = true;

  readonly isMutated = (id: number): boolean => {
    if (++this.asked > this.most) throw new TooLong("the mutant makes it too long");
    if (this.active === 0) (this.isLoading ? this.metLoading : this.met).add(id);
    return id === (this.active || this.lasting);
  };

  /** Begins a try of a test with this mutant (0: none). */
  begin(active: number, most: number): void {
    this.active = active;
    this.met = new Set();
    this.asked = 0;
    this.most = most;
    this.isLoading = false;
  }

  end(): void {
    this.active = 0;
    this.most = Infinity;
    this.isLoading = true;
  }
}

/** Files in which a process leaves its results: one line for each mutant, so that nothing is lost with the process. */
export class Progress {
  readonly folder: string;
  readonly killed: Set<number>;
  readonly tried: Set<string>;
  private readonly met: Set<number>;

  constructor(folder: string) {
    this.folder = folder;
    this.killed = new Set(this.numbers("killed"));
    this.met = new Set(this.numbers("met"));
    this.tried = new Set(this.lines("tried"));
  }

  numbers(name: "killed" | "met" | "loaded" | "trying"): number[] {
    return this.lines(name).map(Number);
  }

  private lines(name: string): string[] {
    const file = `${this.folder}/${name}`;
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
  }

  addTried(test: string): void {
    appendFileSync(`${this.folder}/tried`, `${test}\n`);
  }

  /** What is tried now, for whoever must end this process. */
  trying(id: number): void {
    writeFileSync(`${this.folder}/trying`, String(id));
  }

  addKilled(id: number): void {
    this.killed.add(id);
    appendFileSync(`${this.folder}/killed`, `${id}\n`);
  }

  addMet(ids: Iterable<number>, name: "met" | "loaded"): void {
    const fresh = [...ids].filter((id) => name === "loaded" || !this.met.has(id));
    for (const id of fresh) this.met.add(id);
    if (fresh.length > 0) appendFileSync(`${this.folder}/${name}`, `${fresh.join("\n")}\n`);
  }
}
