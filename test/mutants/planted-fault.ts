/** The invariants of src/README.md. */
type Invariant = `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12}`;

/** A fault that is planted in the source, to see that a test turns red. */
export interface PlantedFault {
  /** Kebab-case, unique. */
  readonly id: string;
  /** What it breaks; absent: a promise of the program beside the invariants. */
  readonly invariant?: Invariant;
  /** From the project's folder. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** What goes wrong with it, in one line. */
  readonly why: string;
  /** Test files that are run before all others; whatever they miss, the others may find. */
  readonly tests: readonly string[];
  /** Why the simulation cannot find it. Not given: it has to. */
  readonly outsideSimulation?: string;
}

/** Why the simulation cannot find some faults. */
export const outside = {
  network: "the simulated network stands in for connections and compressed bodies",
  earlier: "only a mirror of an earlier version has rows with such a field and without its column",
  disk: "a rename is not simulated",
  report: "no report, export or config is made",
  fleet: "no fleet is simulated: it needs a real Postgres",
} as const;
