import type { ParentsPerRun } from "../../../src/sync/plan/scrub.ts";
import type { MirrorContents } from "./mirror-contents.ts";
import type { SimulatedMachine } from "../machine/simulated-machine.ts";

/** Which run read each parent's list last, and how many lists of parents wait. */
interface ParentReads {
  readonly runs: ReadonlyMap<string, number>;
  readonly queued: number;
}

/**
 * Judges, between two processes, which lists of parents the runs of a chain read: no list twice, and with a number of them
 * for each run one share together. Where a 404 denied a CRM event, its parent's list may be read again.
 */
export class ParentShares {
  private readonly machine: SimulatedMachine;
  private readonly parentsPerRun: ParentsPerRun;
  private before: ParentReads = { runs: new Map(), queued: 0 };
  private denials = 0;
  /** The first run of the last chain, and how many lists waited when it began. */
  private chain = { first: 0, queued: 0 };

  constructor(machine: SimulatedMachine, parentsPerRun: ParentsPerRun) {
    this.machine = machine;
    this.parentsPerRun = parentsPerRun;
  }

  /** What the last process did wrong. */
  judge({ db }: MirrorContents): string[] {
    const { before, machine } = this;
    const denials = machine.met.get("CRM event denied") ?? 0;
    const isDenied = denials > this.denials;
    this.denials = denials;
    const now = readsIn(db);
    this.before = now;
    const resumes = new Map(
      db.prepare("SELECT id, resumes FROM _runs").raw().all() as [number, number | null][],
    );
    const firstOf = (run: number): number => {
      const earlier = resumes.get(run) ?? null;
      return earlier === null ? run : firstOf(earlier);
    };
    const last = Math.max(0, ...resumes.keys());
    const first = firstOf(last);
    if (first !== this.chain.first) this.chain = { first, queued: before.queued };
    if (this.parentsPerRun === "auto" || isDenied) return [];
    const again = [...now.runs].flatMap(([parent, run]) => {
      const earlier = before.runs.get(parent) ?? run;
      if (earlier === run || firstOf(earlier) !== firstOf(run)) return [];
      return [
        `I7 the list of ${parent}: read by run ${earlier}, and again by run ${run}, which continues it`,
      ];
    });
    const read = [...now.runs.values()].filter((run) => run >= first);
    if (new Set(read).size > 1) machine.meet("share of parents' lists continued");
    const most = this.parentsPerRun === "all" || isFullChain(db, first) ? Infinity : this.parentsPerRun;
    const isMore = read.length > most + this.chain.queued;
    return isMore
      ? [...again, `I7 run ${last} and those before it read ${read.length} parents' lists`]
      : again;
  }
}

/** A full run reads the lists of all parents; a usual one may continue it. */
function isFullChain(db: MirrorContents["db"], first: number): boolean {
  return db.prepare("SELECT mode FROM _runs WHERE id = ?").pluck().get(first) === "full";
}

function readsIn(db: MirrorContents["db"]): ParentReads {
  const sql = "SELECT parent_resource || ' ' || parent_id, run FROM _parents";
  const queued = "SELECT count(DISTINCT rtrim(target, '0123456789')) FROM _work WHERE kind = 'child'";
  return {
    runs: new Map(db.prepare(sql).raw().all() as [string, number][]),
    queued: db.prepare(queued).pluck().get() as number,
  };
}
