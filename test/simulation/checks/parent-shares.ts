import type { ParentsPerRun } from "../../../src/sync/plan/scrub.ts";
import type { SimulatedMachine } from "../machine/simulated-machine.ts";
import type { MirrorContents } from "./mirror-contents.ts";

/**
 * Judges, between two processes, which lists of parents the runs of a chain read: with a number of them for each run, no
 * list twice (I7). Where a 404 denied a CRM event, its parent's list may be read again.
 */
export function watchParentShares(machine: SimulatedMachine, parentsPerRun: ParentsPerRun) {
  /** Which run read each parent's list last, when it was judged before. */
  let before: ReadonlyMap<string, number> = new Map();
  let denials = 0;
  return ({ db }: MirrorContents): string[] => {
    const isDenied = machine.denials > denials;
    denials = machine.denials;
    const parents = "SELECT parent_resource || ' ' || parent_id, run FROM _parents";
    const [last, now] = [before, new Map(db.prepare(parents).raw().all() as [string, number][])];
    before = now;
    const runs = db.prepare("SELECT id, resumes FROM _runs").raw().all() as [number, number | null][];
    const resumes = new Map(runs);
    const firstOf = (run: number): number => {
      const earlier = resumes.get(run) ?? null;
      return earlier === null ? run : firstOf(earlier);
    };
    if (parentsPerRun === "auto" || isDenied) return [];
    return [...now].flatMap(([parent, run]) => {
      const earlier = last.get(parent) ?? run;
      if (earlier === run || firstOf(earlier) !== firstOf(run)) return [];
      return [
        `I7 the list of ${parent}: read by run ${earlier}, and again by run ${run}, which continues it`,
      ];
    });
  };
}
