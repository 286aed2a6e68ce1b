import type { ParentsPerRun } from "../../../src/sync/plan/scrub.ts";
import type { SimulatedMachine } from "../machine/simulated-machine.ts";
import type { MirrorContents } from "./mirror-contents.ts";

/**
 * Judges, between two processes, which lists of parents the runs of a chain read: with a number of them for each run, no
 * list twice (I7). Where a 404 denied a CRM event, its parent's list may be read again.
 */
export class ParentShares {
  private readonly machine: SimulatedMachine;
  private readonly parentsPerRun: ParentsPerRun;
  /** Which run read each parent's list last. */
  private before: ReadonlyMap<string, number> = new Map();
  private denials = 0;

  constructor(machine: SimulatedMachine, parentsPerRun: ParentsPerRun) {
    this.machine = machine;
    this.parentsPerRun = parentsPerRun;
  }

  /** What the last process did wrong. */
  judge({ db }: MirrorContents): string[] {
    const { before, machine } = this;
    const isDenied = machine.denials > this.denials;
    this.denials = machine.denials;
    const parents = "SELECT parent_resource || ' ' || parent_id, run FROM _parents";
    const now = new Map(db.prepare(parents).raw().all() as [string, number][]);
    this.before = now;
    const runs = db.prepare("SELECT id, resumes FROM _runs").raw().all() as [number, number | null][];
    const resumes = new Map(runs);
    const firstOf = (run: number): number => {
      const earlier = resumes.get(run) ?? null;
      return earlier === null ? run : firstOf(earlier);
    };
    if (this.parentsPerRun === "auto" || isDenied) return [];
    return [...now].flatMap(([parent, run]) => {
      const earlier = before.get(parent) ?? run;
      if (earlier === run || firstOf(earlier) !== firstOf(run)) return [];
      return [
        `I7 the list of ${parent}: read by run ${earlier}, and again by run ${run}, which continues it`,
      ];
    });
  }
}
