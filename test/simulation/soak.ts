import { setTimeout as pause } from "node:timers/promises";
import { minuteMs } from "../../src/base/clock.ts";
import { eventually } from "../support/eventually.ts";
import { count } from "../support/truth/compare.ts";
import { endServe, startProcess, startProbed, type Process } from "../support/program/serve-process.ts";
import { askProbe, longestBy, stallText, type ProbeAnswer } from "../support/program/stall.ts";
import { leaks } from "./checks/secrecy.ts";
import { brokenMirrors, openDescriptors, openManyCompanies, type ManyCompanies } from "./soaked-companies.ts";

/** Of the time under load: kills of the daemon, then warming up of the last one; what is left is measured. */
const shares = { kills: 0.1, warmUp: 0.35 };
/** By so much the heap may be larger at the end: what the engine compiled since counts as well. */
const mostGrowthBytes = 3 * 2 ** 20;
const mostStallMs = 200;
/** Connections to the service that a company keeps for a minute after a run, at most. */
const keptConnections = 6;
/** Between two changes of a company. */
const changeEveryMs = 5_000;
/** Events that never come, that come twice, and all in another order than they happened. */
const deliveries = { losses: 0.2, duplicates: 0.2, reorder: 1 };

export interface SoakPlan {
  /** Under load. */
  readonly durationMs: number;
  readonly companies: number;
  readonly kills: number;
  readonly roundMs: number;
  /** Until the daemon is at rest. Rechecks are due a minute later, and statements that nobody uses go each minute. */
  readonly restMs: number;
}

interface SoakResult {
  readonly lines: readonly string[];
  readonly broken: readonly string[];
}

interface Soak {
  readonly many: ManyCompanies;
  readonly plan: SoakPlan;
  daemon: Process;
  readonly stalls: ProbeAnswer[];
  readonly runs: Promise<void>[];
}

/**
 * Serves companies for so long: changes, deliveries of which some are lost, doubled or late, runs, reports, SIGHUPs, and
 * kills in the first tenth.
 * After the warm-up and at the end the load stops, so that what is in flight does not count as memory. At the end all
 * mirrors must be equal to the service, and memory and descriptors must not have grown.
 */
export async function soak(plan: SoakPlan): Promise<SoakResult> {
  const many = await openManyCompanies(plan.companies, deliveries);
  const processes: Process[] = [];
  const serve = async () => {
    const daemon = await startProbed(many.folder, many.port, 4 * plan.durationMs + 60 * minuteMs);
    processes.push(daemon);
    await allOpen(daemon, many);
    return daemon;
  };
  try {
    const one: Soak = { many, plan, daemon: await serve(), stalls: [], runs: [] };
    for (let kill = 1; kill <= plan.kills; kill++) {
      const stop = startChanges(many, plan.durationMs);
      await load(one, (plan.durationMs * shares.kills) / plan.kills);
      await endServe(one.daemon, "SIGKILL");
      one.daemon = await serve();
      await stop();
    }
    await loadWithChanges(one, plan.durationMs * shares.warmUp);
    const heapBytes = await heapAtRest(one);
    const [before, eventsBefore] = [openDescriptors(one.daemon), eventsIn(many)];
    one.stalls.length = 0;
    await loadWithChanges(one, plan.durationMs * (1 - shares.kills - shares.warmUp));
    const heap = judgeHeap(heapBytes, await heapAtRest(one));
    const work = `measured: ${eventsIn(many) - eventsBefore} events stored`;
    const broken = await comeToRest(one);
    const descriptors = await descriptorsAtRest(one, before);
    const judged = [heap, judgeStalls(one.stalls)];
    const { code } = await endServe(one.daemon, "SIGTERM");
    if (code !== 0) broken.push(`SIGTERM ended with ${code}: ${one.daemon.stderr().slice(-500)}`);
    const logs = new Map(
      processes.map((each, i) => [`the log of serve ${i}`, each.stdout() + each.stderr()]),
    );
    broken.push(...leaks(many.secrets, logs));
    return {
      lines: [work, descriptors, ...judged.flatMap(({ lines }) => lines)],
      broken: [...broken, ...judged.flatMap((each) => each.broken)],
    };
  } finally {
    for (const { child } of processes) child.kill("SIGKILL");
    await many.close();
  }
}

/** A change every five seconds in each company, until the returned function is called. Throws a bug of the sandbox. */
function startChanges({ sandbox, names }: ManyCompanies, durationMs: number): () => Promise<void> {
  const changes = Math.ceil(durationMs / changeEveryMs);
  const days = names.map((_, company) =>
    sandbox.control.day({ company, changes, durationMs, seed: company + Math.ceil(performance.now()) }),
  );
  return async () => {
    for (const day of days) day.stop();
    await Promise.all(days.map(({ done }) => done));
  };
}

function allOpen(daemon: Process, { names }: ManyCompanies): Promise<void> {
  const isOpen = () => daemon.stderr().split('"msg":"the mirror is open').length > names.length;
  return eventually(isOpen, () => `all mirrors are open: ${daemon.stderr().slice(-500)}`);
}

async function loadWithChanges(one: Soak, durationMs: number): Promise<void> {
  const stop = startChanges(one.many, durationMs);
  await load(one, durationMs);
  await stop();
}

async function load(one: Soak, durationMs: number): Promise<void> {
  const { many, plan, daemon, stalls, runs } = one;
  const startedMs = performance.now();
  const leftMs = () => startedMs + durationMs - performance.now();
  for (let round = 0; leftMs() > 0; round++) {
    await pause(Math.min(plan.roundMs, Math.max(0, leftMs())));
    if (round % 5 === 1) runs.push(runOne(many, runs.length));
    if (round % 15 === 7) daemon.child.kill("SIGHUP");
    stalls.push(await askProbe(daemon.child, { collect: false }));
  }
}

/** A `sync` beside the daemon: it asks the daemon for the run, whose end brings a report. */
async function runOne({ folder, names }: ManyCompanies, nth: number): Promise<void> {
  const args = ["sync", "-q", "--quick", "--company", names[nth % names.length] ?? ""];
  await startProcess(args, { folder }).ended;
}

/** Waits until nothing is sent, and then for the daemon to come to rest. */
async function heapAtRest({ many, plan, daemon, runs }: Soak): Promise<number> {
  await many.sandbox.control.webhooks.idle(minuteMs, { withinMs: Infinity });
  await Promise.all(runs);
  await pause(plan.restMs);
  return (await askProbe(daemon.child, { collect: true })).heapBytes;
}

function eventsIn({ names, mirror }: ManyCompanies): number {
  return names.reduce((sum, _, i) => sum + count(mirror(i), "SELECT count(*) FROM _inbox"), 0);
}

/** Ends all deliveries, has everything read once more, and compares. */
async function comeToRest({ many, daemon }: Soak): Promise<string[]> {
  await many.sandbox.control.webhooks.idle(minuteMs, { withinMs: Infinity });
  const args = ["sync", "--json", "--full", "--allow-mass-delete"];
  const run = startProcess(args, { folder: many.folder, mostMs: 10 * minuteMs });
  const { code } = await run.ended;
  if (code !== 0) return [`sync --full ended with ${code}: ${run.stderr().slice(-2_000)}`];
  if (daemon.child.exitCode !== null) return [`serve ended: ${daemon.stderr().slice(-2_000)}`];
  return brokenMirrors(many);
}

type Descriptors = ReturnType<typeof openDescriptors>;

/**
 * Waits for as many files as after the warm-up, and sockets but for those that each company keeps to the service: kept
 * connections and files of a sort end by and by. Throws what is left.
 */
async function descriptorsAtRest({ daemon, plan }: Soak, before: Descriptors): Promise<string> {
  const mostSockets = before.sockets + plan.companies * keptConnections;
  const text = ({ files, sockets }: Descriptors) => `${files} files and ${sockets} sockets`;
  let after = before;
  const line = () => `descriptors: ${text(before)} after warm-up, ${text(after)} at the end`;
  await eventually(() => {
    after = openDescriptors(daemon);
    return after.files <= before.files && after.sockets <= mostSockets;
  }, line);
  return line();
}

/**
 * Pure: no stall may keep the processor busy for over 200 ms. What else a stall was made of, the machine, the disk or
 * threads of the garbage collection, is shown.
 */
function judgeStalls(answers: readonly ProbeAnswer[]): SoakResult {
  const of = (kind: "busiest" | "longest") => answers.map((one) => one[kind]);
  const [busiest, longest] = [longestBy("cpuMs", of("busiest")), longestBy("wallMs", of("longest"))];
  const lines = [`busiest stall: ${stallText(busiest)}`, `longest stall: ${stallText(longest)}`];
  return { lines, broken: busiest.cpuMs > mostStallMs ? [`the event loop stalls: ${lines[0]}`] : [] };
}

/** Pure: all garbage is collected, after the warm-up and at the end. */
function judgeHeap(beforeBytes: number, afterBytes: number): SoakResult {
  const [before, after] = [beforeBytes, afterBytes].map((bytes) => (bytes / 2 ** 20).toFixed(2));
  const line = `heap at rest: ${before} MB after warm-up, ${after} MB at the end`;
  const grows = afterBytes - beforeBytes > mostGrowthBytes;
  return { lines: [line], broken: grows ? [`memory grows: ${line}`] : [] };
}
