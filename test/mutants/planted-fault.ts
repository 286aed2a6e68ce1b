/** The invariants of src/README.md. */
type Invariant = `I${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12}`;

/** A fault that is planted in the source, to see that a test turns red. */
export interface PlantedFault {
  /** Kebab-case, unique. */
  readonly id: string;
  /** What it breaks; absent: a promise of the program beside the invariants. */
  readonly invariant?: Invariant;
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** What goes wrong with it, in one line. */
  readonly why: string;
  readonly tests: readonly string[];
  /** Why the simulation cannot find it. Not given: it has to. */
  readonly outsideSimulation?: string;
}

export const outside = {
  network: "the simulated network stands in for connections and compressed bodies",
  earlier: "only a mirror of an earlier version has rows with such a field and without its column",
  disk: "a rename is not simulated",
  report: "no report, export or config is made",
  fleet: "no fleet is simulated: it needs a real Postgres",
} as const;

/**
 * Faults, one after another, as
 *
 *     id, invariant: why
 *       file, found by tests
 *       - what is found
 *       + what replaces it
 *       outside: why the simulation cannot find it, or a key of `outside`
 *
 * @param elsewhere where a fault does not say `outside`
 */
export function faultsIn(text: string, elsewhere?: string): PlantedFault[] {
  return text
    .trim()
    .split(/\n {2}(?=\S)/)
    .map((fault) => faultIn(fault, elsewhere));
}

function faultIn(text: string, elsewhere: string | undefined): PlantedFault {
  const [, id, invariant, why, file, tests] =
    /^([\w-]+)(?:, (I\d+))?: (.+)\n {4}(\S+), found by (.+)\n/.exec(text) ?? [];
  const marked = (mark: string) =>
    Array.from(text.matchAll(new RegExp(`^ {4}${mark} ?(.*)$`, "gm")), ([, line]) => line).join("\n");
  if (!id || !why || !file || !tests) throw new Error(`this is no planted fault: ${text}`);
  const named = marked("outside:");
  const outsideSimulation = named === "" ? elsewhere : (outside[named as keyof typeof outside] ?? named);
  return {
    id,
    file,
    find: marked("-"),
    replace: marked(String.raw`\+`),
    why,
    tests: tests.split(" "),
    ...(invariant !== undefined && { invariant: invariant as Invariant }),
    ...(outsideSimulation !== undefined && { outsideSimulation }),
  };
}
