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
  report: "no report, export or config is made",
  fleet: "no fleet is simulated: it needs a real Postgres",
} as const;

/**
 * Faults by the file that each is planted in and the tests that must find it, as
 *
 *     file, found by tests
 *       id, invariant: why
 *         - what is found
 *         + what replaces it
 *         outside: why the simulation cannot find it, or a key of `outside`
 *
 * @param elsewhere where a fault does not say `outside`
 */
export function faultsIn(text: string, elsewhere?: string): PlantedFault[] {
  return text.split(/^ {2}(?=\S)/m).flatMap((group) => {
    const [head = "", ...faults] = group.split(/^ {4}(?=\S)/m);
    const [file = "", tests = ""] = head.trim().split(", found by ");
    return faults.map((fault) => faultIn(fault, { file, tests: tests.split(" ") }, elsewhere));
  });
}

function faultIn(
  text: string,
  place: Pick<PlantedFault, "file" | "tests">,
  elsewhere: string | undefined,
): PlantedFault {
  const [, id, invariant, why] = /^([\w-]+)(?:, (I\d+))?: (.+)\n/.exec(text) ?? [];
  const marked = (mark: string) =>
    Array.from(text.matchAll(new RegExp(`^ {6}${mark} ?(.*)$`, "gm")), ([, line]) => line).join("\n");
  if (!id || !why || !place.tests[0]) throw new Error(`this is no planted fault: ${text}`);
  const named = marked("outside:");
  const outsideSimulation = named === "" ? elsewhere : (outside[named as keyof typeof outside] ?? named);
  return {
    id,
    ...place,
    find: marked("-"),
    replace: marked(String.raw`\+`),
    why,
    ...(invariant !== undefined && { invariant: invariant as Invariant }),
    ...(outsideSimulation !== undefined && { outsideSimulation }),
  };
}
