import { readFileSync } from "node:fs";
import path from "node:path";
import { look } from "../../support/truth/compare.ts";
import { seededChoice, seededRandom } from "../../support/seeded-random.ts";
import { brokenAtRest, brokenNow } from "../checks/all-checks.ts";
import { overspent } from "../checks/budget.ts";
import { MirrorContents } from "../checks/mirror-contents.ts";
import { watchParentShares } from "../checks/parent-shares.ts";
import { staleAfterRun } from "../checks/progress.ts";
import { unkeptRecords } from "../checks/odd-records.ts";
import { leaks } from "../checks/secrecy.ts";
import { emptyMirror, newFolder, SimulatedDisk } from "../machine/simulated-disk.ts";
import { SimulatedMachine } from "../machine/simulated-machine.ts";
import { deliver } from "../machine/delivery-path.ts";
import { isFresh, isListed, type EndedRun } from "../machine/ended-run.ts";
import { configWith } from "../machine/simulated-declaration.ts";
import { SimulatedProcess } from "../machine/simulated-process.ts";
import { SimulatedProgram, webhookSecret, type ProgramOptions } from "../machine/simulated-program.ts";
import { SimulatedTime } from "../../support/virtual/simulated-time.ts";
import { tableNames, type TableName } from "../service/service-types.ts";
import { SimulatedService } from "../service/simulated-service.ts";
import { webhookSender } from "../service/webhook-sender.ts";
import { calmDeliveries, calmNetwork } from "./scenario.ts";
import type { Ending, Phase, PlannedChange, PlannedOddity, TokenKind, Scenario } from "./scenario.ts";
import { TokenWatch } from "./token-watch.ts";

const startMs = Date.parse("2026-11-01T02:15:00+01:00");
/** A process that needs more is not going to end. */
const mostSteps = 60_000;

/** Simulates a scenario to its end, where the mirror must equal the service. */
export async function simulateScenario(scenario: Scenario, { isVerbose = false } = {}) {
  const time = new SimulatedTime(startMs);
  const people = reseedable(scenario.seed);
  const service = new SimulatedService({ ...scenario.service, random: people, clock: time });
  const disk = new SimulatedDisk(newFolder(), scenario.fresh ? null : await emptyMirror());
  const machine = new SimulatedMachine({ time, service, disk, hasMirror: !scenario.fresh });
  machine.isVerbose = isVerbose;
  const simulation = new Simulation(scenario, machine, people);
  try {
    await simulation.run();
  } catch (error) {
    machine.broken.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    disk.remove();
  }
  return { broken: machine.broken, story: machine.story, requests: service.exchanges.length };
}

/** A random source that begins anew at `reseed`, so that a change is the same whatever went before. */
function reseedable(seed: number) {
  let current = seededRandom(seed);
  return {
    next: () => current.next(),
    uuid: () => current.uuid(),
    reseed: (next: number) => void (current = seededRandom(next)),
  };
}

/** Their lists show all of a record. */
const listedInFull: readonly TableName[] = ["company", "units", "clients", "business_cases"];

/** Opens a mirror that nobody writes, for the checks. */
function lookAt<T>(file: string, use: (mirror: MirrorContents) => T): T {
  return look(file, (db) => use(new MirrorContents(db)));
}

class Simulation {
  private readonly scenario: Scenario;
  private readonly machine: SimulatedMachine;
  private readonly people: ReturnType<typeof reseedable>;
  private readonly sender: ReturnType<typeof webhookSender>;
  private readonly tokens: TokenWatch;
  private readonly judgeParentShares: ReturnType<typeof watchParentShares>;
  private program: SimulatedProgram | null = null;
  /** Since a quick run. */
  private mayLackWork = false;
  /** Changes that people will still make. */
  private planned = 0;

  constructor(scenario: Scenario, machine: SimulatedMachine, people: ReturnType<typeof reseedable>) {
    this.scenario = scenario;
    this.machine = machine;
    this.people = people;
    this.tokens = new TokenWatch(machine, scenario);
    this.judgeParentShares = watchParentShares(machine, scenario.parentsPerRun ?? "auto");
    const { time, service } = machine;
    this.sender = webhookSender({
      clock: time,
      random: seededRandom(scenario.seed + 1),
      secret: webhookSecret,
      deliver: (headers, body) => deliver(machine, () => this.program, headers, body),
    });
    service.onEvent((event) => this.sender.send(event));
  }

  async run(): Promise<void> {
    const { machine, scenario } = this;
    for (const phase of scenario.phases) {
      await this.runPhase(phase);
      if (machine.broken.length > 0) return;
    }
    await this.comeToRest();
  }

  private async runPhase(phase: Phase): Promise<void> {
    const { machine } = this;
    const { time } = machine;
    machine.choice = seededChoice(seededRandom(phase.seed));
    machine.network = phase.network;
    machine.busy = phase.busy ?? 0;
    machine.deliveries = phase.deliveries;
    for (const change of phase.changes) this.planChange(change);
    for (const odd of phase.oddities ?? []) this.planOdd(odd);
    for (const { atMs, byMs } of phase.wallJumps) time.after(atMs, () => this.jumpWall(byMs));
    for (const atMs of phase.looksAtMs ?? []) time.after(atMs, () => this.lookBeside());
    const { activity } = phase;
    if (activity.kind === "down") return this.drive(time.sleep(phase.durationMs));
    const { durationMs, seed, ending, token = "own" } = phase;
    await this.runProcess({ activity, durationMs, seed }, ending, token);
    // What a service counts of another company's token says nothing of the next window.
    const pauseMs = token === "foreign" || token === "namesake" ? 130_000 : 0;
    await this.drive(time.sleep(pauseMs + machine.choice.below(20_000)));
  }

  private planOdd({ atMs, seed, what }: PlannedOddity): void {
    const { machine } = this;
    this.plan(atMs, seed, () => {
      machine.note(`the service: ${machine.service.beOdd(what)}`);
      const event = { id: `evt_${seed}`, type: "unreadable", occurredAt: "", resource: { type: "", id: 1 } };
      if (what === "unreadable event") this.sender.send(event, Buffer.from(`no JSON ${seed}`));
    });
  }

  private planChange({ atMs, seed, on }: PlannedChange): void {
    const { machine } = this;
    this.plan(atMs, seed, () => machine.note(`people: ${machine.service.act(on) ?? "nothing to change"}`));
  }

  private plan(atMs: number, seed: number, act: () => void): void {
    this.planned += 1;
    this.machine.time.after(atMs, () => {
      this.planned -= 1;
      this.people.reseed(seed);
      act();
    });
  }

  private jumpWall(byMs: number): void {
    this.machine.wallOffsetMs += byMs;
    this.machine.clockLosses.settings.push(this.machine.time.passedMs);
    this.machine.note(`the clock is set by ${byMs} ms`);
  }

  private async runProcess(
    options: Pick<ProgramOptions, "activity" | "durationMs" | "seed">,
    ending: Ending,
    wanted: TokenKind = "own",
  ): Promise<void> {
    const { machine, scenario, tokens } = this;
    const { kind } = options.activity;
    const { token, asking } = machine.hasMirror
      ? lookAt(machine.disk.mirror, (db) => tokens.begin(wanted, kind === "serve" ? "serve" : "sync", db))
      : tokens.begin("own", "sync", null);
    machine.note(`${kind} starts: ${JSON.stringify(options.activity)}, ${JSON.stringify(ending)}`);
    const hadMirror = machine.hasMirror;
    const process = new SimulatedProcess(machine, ending, token);
    const acceptIdentity = tokens.isForced && token === machine.tokens.own;
    const program = new SimulatedProgram(machine, process, { ...scenario, ...options, acceptIdentity });
    this.program = program;
    if (options.activity.kind === "sync" && options.activity.mode === "quick") this.mayLackWork = true;
    try {
      const end = await this.drive(process.run(() => program.run()));
      machine.note(`${kind} ${end.how}`);
      if (machine.hasMirror && !hadMirror && lookAt(machine.disk.mirror, (db) => db.isEmpty))
        machine.hasMirror = false;
      this.check(program.runs);
      if (machine.hasMirror)
        machine.broken.push(...lookAt(machine.disk.mirror, (db) => tokens.end(asking, db, program.runs)));
      const isBusy = machine.busy > 0 && end.how === "failed" && end.error.includes("the database is busy");
      if (end.how === "failed" && !isBusy) machine.broken.push(`${kind} failed: ${end.error}`);
    } finally {
      this.program = null;
    }
  }

  /** What must hold between two processes. */
  private check(runs: readonly EndedRun[]): void {
    const { machine } = this;
    if (!machine.hasMirror) {
      if (machine.acknowledged.size > 0)
        machine.broken.push("I6 events were answered 2xx, and there is no mirror");
      return;
    }
    const found = lookAt(machine.disk.mirror, (db) => [
      ...brokenNow(db, machine),
      ...this.judgeParentShares(db),
      ...runs
        .filter(({ report }) => isFresh(report))
        .flatMap((run) =>
          staleAfterRun(db, machine, { ...run, tables: run.full ? tableNames : listedInFull }),
        ),
      ...runs
        .filter(({ report }) => isListed(report))
        .flatMap(({ report, sinceMs }) => unkeptRecords(db, machine, report, sinceMs)),
      ...this.leaks(),
    ]);
    // A quick run proves no deletion: a row whose detail it found missing waits for the next list.
    if (runs.some(({ report, quick }) => !quick && isFresh(report))) this.mayLackWork = false;
    machine.broken.push(...found.filter((what) => !this.isAllowed(what)));
  }

  private isAllowed(what: string): boolean {
    return this.mayLackWork && what.endsWith("nothing is queued to read its detail");
  }

  /** What must hold after each transaction of a process. */
  private lookBeside(): void {
    const { machine, program } = this;
    if (!program || !machine.hasMirror || machine.broken.length > 0) return;
    const found = lookAt(machine.disk.mirror, (db) => (db.isEmpty ? [] : brokenNow(db, machine)));
    machine.broken.push(
      ...found.filter((what) => !this.isAllowed(what)).map((what) => `${what} (beside a process)`),
    );
  }

  /** No change, no fault; then everything must become equal. */
  private async comeToRest(): Promise<void> {
    const { machine, scenario } = this;
    const { time, service } = machine;
    machine.network = calmNetwork;
    machine.busy = 0;
    machine.deliveries = calmDeliveries;
    machine.choice = seededChoice(seededRandom(scenario.seed + 2));
    while (this.planned > 0) await this.drive(time.sleep(60_000));
    await this.drive(time.sleep(service.options.lagMs));
    service.rest();
    machine.note("nothing changes any more");
    const ending: Ending = { kind: "by itself" };
    if (scenario.restsBesideServe) {
      const activity = { kind: "serve", runAtMs: null, full: false } as const;
      await this.runProcess({ activity, durationMs: 4 * 3_600_000, seed: 1 }, ending);
    }
    this.tokens.overrideIdentity();
    while (this.sender.pending() > 0) await this.drive(time.sleep(1_000_000));
    await this.runProcess({ activity: { kind: "final runs" }, durationMs: 0, seed: 2 }, ending);
    if (machine.broken.length > 0) return;
    const { disk, broken } = machine;
    broken.push(...lookAt(disk.mirror, (db) => brokenAtRest(db, machine)), ...overspent(machine));
    broken.push(...this.leaks());
  }

  /** I9: secrets in the log, in the files, and in what a program prints of its config. */
  private leaks(): string[] {
    const { disk, story, tokens } = this.machine;
    const places = new Map<string, string | Buffer>([
      ["the log", story.join("\n")],
      ["the config as JSON", JSON.stringify(configWith(tokens.own))],
    ]);
    for (const file of disk.files()) places.set(path.basename(file), readFileSync(file));
    return leaks([...tokens.secrets, webhookSecret], places);
  }

  private drive<T>(task: Promise<T>): Promise<T> {
    return this.machine.time.until(task, mostSteps);
  }
}
