import Database from "better-sqlite3";
import type { Clock } from "../../../src/base/clock.ts";
import type { Log } from "../../../src/base/logger.ts";
import type { Db } from "../../../src/store/database.ts";
import type { CrashPoint, Ending } from "../scenarios/scenario.ts";
import { unwatchCommits, watchCommits, type CommitPoints } from "./commit-points.ts";
import type { SimulatedMachine } from "./simulated-machine.ts";

/** The process is dead: thrown where it stood, so that nothing after it happens. */
class Crash extends Error {}

/** How one process came to its end; `error`: what its program threw. */
export type ProcessEnd =
  { readonly how: "ended" | "crashed" } | { readonly how: "failed"; readonly error: string };

/** The clocks of one process: with it they end, and nobody who sleeps on them is ever woken. */
function clockOf(process: SimulatedProcess, machine: SimulatedMachine): Clock {
  const { time, bootedAtMs } = machine;
  const never = new Promise<void>(() => undefined);
  return {
    nowMs: () => time.nowMs() + machine.wallOffsetMs,
    monotonicMs: () => time.passedMs - bootedAtMs,
    sleep: (ms, signal) => {
      if (!process.isAlive) return never;
      return time.sleep(ms, signal).then(() => (process.isAlive ? undefined : never));
    },
  };
}

/**
 * One process on the simulated machine. It ends with its program, or dies at the point or moment of its ending: then
 * its clock stops, nothing that it asked for is answered, and the files go on to the next process as they stand at
 * that moment.
 */
export class SimulatedProcess implements CommitPoints {
  readonly clock: Clock;
  readonly token: string;
  readonly log: Log;
  /** Ends the program, requests in flight may finish. */
  readonly closed = new AbortController();
  /** Ends the program at once. */
  readonly interrupted = new AbortController();
  readonly file: string;
  isAlive = true;
  isOpening = true;
  private readonly machine: SimulatedMachine;
  private readonly ending: Ending;
  private readonly crashed = Promise.withResolvers<ProcessEnd>();
  private pointsSeen = 0;
  /** Frames of the log after each commit. */
  private readonly boundaries: number[];
  private db: Db | null = null;
  /** Code of SQLite's error with which the next transaction fails before it commits. */
  failure: string | null = null;
  private removeFiles: () => void = () => undefined;

  constructor(machine: SimulatedMachine, ending: Ending, token: string) {
    this.machine = machine;
    this.token = token;
    machine.budgetWatch.begin();
    this.ending = ending;
    this.clock = clockOf(this, machine);
    this.file = machine.disk.mirror;
    this.boundaries = [machine.disk.committedFrames()];
    const line =
      (level: string) =>
      (message: string, fields: object = {}) => {
        if (this.isAlive) machine.log(level, message, fields);
      };
    this.log = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  }

  get death(): Promise<unknown> {
    return this.crashed.promise;
  }

  async run(program: () => Promise<void>): Promise<ProcessEnd> {
    this.planEnding();
    watchCommits(this.file, this);
    const work = program().then(
      (): ProcessEnd => ({ how: "ended" }),
      (error: unknown): ProcessEnd => ({ how: "failed", error: detailOf(error) }),
    );
    const done = work.then((end) => (this.isAlive ? end : this.crashed.promise));
    const end = await Promise.race([this.crashed.promise, done]);
    // What stands in the middle of a transaction unwinds first.
    if (end.how === "crashed") await new Promise<void>((resolve) => setImmediate(resolve));
    this.isAlive = false;
    this.db?.close();
    unwatchCommits(this.file);
    this.removeFiles();
    return end;
  }

  /** Comes to a point; throws where the process dies there, and ever after. */
  reach(point: CrashPoint): void {
    if (!this.isAlive) throw new Crash(point);
    if (!this.isEnd(point)) return;
    this.die(point);
    throw new Crash(point);
  }

  /** As `reach`; returns whether the process goes on. */
  passes(point: CrashPoint): boolean {
    if (this.isAlive && this.isEnd(point)) this.die(point);
    return this.isAlive;
  }

  private throwFailure(): void {
    const { failure } = this;
    this.failure = null;
    if (failure !== null) throw new Database.SqliteError("simulated", failure);
  }

  private isEnd(point: CrashPoint): boolean {
    const { ending } = this;
    if (ending.kind !== "crash") return false;
    const isHere = point === ending.point || (ending.point === "at opening" && this.isOpening);
    return isHere && ++this.pointsSeen === ending.nth;
  }

  private planEnding(): void {
    const { ending, machine } = this;
    if (ending.kind !== "killed" && ending.kind !== "stopped") return;
    machine.time.after(ending.atMs, () => {
      if (!this.isAlive) return;
      if (ending.kind === "killed") this.die("at a moment");
      else (ending.now ? this.interrupted : this.closed).abort();
    });
  }

  /** `frames`: of the log, what is left where it was cut off in a transaction. */
  private die(point: string, frames: number | null = null): void {
    const { machine, ending } = this;
    const { disk, choice } = machine;
    const power = "power" in ending && ending.power;
    this.isAlive = false;
    const isDurable = this.db === null || this.db.pragma("synchronous", { simple: true }) === 2;
    machine.note(`the process dies ${point}${power ? ", by a loss of power" : ""}`);
    this.removeFiles = disk.moveOn();
    const lastCommit = this.boundaries.at(-1) ?? 0;
    const kept = isDurable ? lastCommit : choice.one(this.boundaries);
    if (frames !== null) disk.cutLog(disk.mirror, frames, Buffer.alloc(0));
    else if (power)
      disk.cutLog(disk.mirror, kept, choice.probability(0.5) ? disk.tornFrames(choice) : Buffer.alloc(0));
    if (power) {
      machine.reboot();
      disk.loseBudget(choice);
    }
    this.crashed.resolve({ how: "crashed" });
  }

  begin(db: Db): void {
    this.db = db;
    this.reach("before a transaction");
  }

  written(): void {
    const { busy, choice } = this.machine;
    this.throwFailure();
    this.reach("in a transaction");
    if (busy === 0 || this.isOpening || !choice.probability(busy)) return;
    throw Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY" });
  }

  /** The log holds the transaction: where it was cut off while it was written is decided here, afterwards. */
  committed(): void {
    if (!this.isAlive) throw new Crash("committed");
    const { disk, choice } = this.machine;
    const before = this.boundaries.at(-1) ?? 0;
    const frames = disk.committedFrames();
    if (frames > before && this.isEnd("while committing")) {
      this.die("while committing", before + choice.below(frames - before));
      throw new Crash("while committing");
    }
    this.boundaries.push(frames);
    this.reach("after a commit");
  }
}

function detailOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
