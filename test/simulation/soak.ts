import { setTimeout as pause } from "node:timers/promises";
import { differences, look } from "../support/compare.ts";
import { openManyCompanies, processFacts, type ManyCompanies } from "../support/many-companies.ts";
import { askProbe, longestBy, stallText, type Stall } from "../support/stall.ts";
import { endServe, startProcess, startProbed, type Process } from "../support/serve-process.ts";
import { truthOf } from "../support/truth.ts";

const minuteMs = 60_000;
/** After the last kill begins the steady time; its first half is warm-up. */
const steadyShare = 0.6;
const aims = { growthBytesPerHour: 2 ** 20, stallMs: 200 };
/** By so much the heap may be larger at the end of any soak: what is in flight differs from one moment to another. */
const mostHeapGrowthBytes = 3 * 2 ** 20;

/** What is served, and for how long. */
export interface SoakPlan {
  readonly durationMs: number;
  readonly companies: number;
  /** Kills of the daemon before the steady time. */
  readonly kills: number;
  /** Time between two looks at the daemon. */
  readonly lookEveryMs: number;
}

/** How one moment of the daemon looked. */
export interface SoakSample {
  readonly atMs: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
  readonly busiest: Stall;
  readonly longest: Stall;
}

/** Open files and sockets. */
export interface Descriptors {
  readonly files: number;
  readonly sockets: number;
}

/** What a soak found. */
export interface SoakResult {
  readonly lines: readonly string[];
  readonly broken: readonly string[];
}

/**
 * Serves companies for so long: changes and their deliveries, runs, reports, SIGHUPs, and kills in the first two
 * fifths. Then all mirrors must be equal to the service, and memory and descriptors must not have grown.
 */
export async function soak(plan: SoakPlan): Promise<SoakResult> {
  const { durationMs, kills } = plan;
  const many = await openManyCompanies(plan.companies, 10);
  const processes: Process[] = [];
  const serve = async () => {
    const daemon = await startProbed(many.folder, many.port, durationMs + 10 * minuteMs);
    processes.push(daemon);
    await allOpen(daemon, many);
    return daemon;
  };
  try {
    let daemon = await serve();
    const changes = startChanges(many, durationMs);
    for (let kill = 1; kill <= kills; kill++) {
      await load(many, daemon, plan, (1 - steadyShare) / kills);
      await endServe(daemon, "SIGKILL");
      daemon = await serve();
    }
    await load(many, daemon, plan, steadyShare / 2);
    const before = descriptorsOf(daemon);
    const samples = await load(many, daemon, plan, steadyShare / 2);
    await changes;
    const broken = await comeToRest(many, daemon);
    const after = await descriptorsAtRest(daemon, before, plan.companies);
    const { code } = await endServe(daemon, "SIGTERM");
    if (code !== 0) broken.push(`SIGTERM ended with ${code}: ${daemon.stderr().slice(-500)}`);
    const judged = [
      judgeStalls(samples),
      judgeHeap(samples),
      judgeDescriptors(before, after, plan.companies),
    ];
    return {
      lines: judged.flatMap(({ lines }) => lines),
      broken: [...broken, ...judged.flatMap((one) => one.broken)],
    };
  } finally {
    for (const { child } of processes) child.kill("SIGKILL");
    await many.close();
  }
}

/** One change a second in each of ten companies, in all companies in turn. */
async function startChanges({ sandbox, names }: ManyCompanies, durationMs: number): Promise<void> {
  const changes = Math.ceil(durationMs / 5_000);
  const days = names.map((_, company) =>
    sandbox.control.day({ company, changes, durationMs, seed: company + 1 }),
  );
  for (const { done } of days) {
    const { problem } = await done;
    if (problem !== null) throw new Error(`the sandbox's day ended: ${problem}`);
  }
}

async function allOpen(daemon: Process, { names }: ManyCompanies): Promise<void> {
  const isOpen = () => daemon.stderr().split('"msg":"the mirror is open').length > names.length;
  for (const endMs = performance.now() + minuteMs; !isOpen(); await pause(20))
    if (performance.now() > endMs)
      throw new Error(`not all mirrors are open: ${daemon.stderr().slice(-500)}`);
}

/** Runs and SIGHUPs for this share of the time. */
async function load(many: ManyCompanies, daemon: Process, plan: SoakPlan, share: number) {
  const endMs = performance.now() + plan.durationMs * share;
  const samples: SoakSample[] = [];
  for (let round = 0; performance.now() < endMs; round++) {
    await pause(Math.min(plan.lookEveryMs, Math.max(0, endMs - performance.now())));
    if (round % 5 === 1) void runOne(many, round);
    if (round % 15 === 7) daemon.child.kill("SIGHUP");
    samples.push(await lookAt(daemon));
  }
  return samples;
}

async function lookAt(daemon: Process): Promise<SoakSample> {
  const answer = await askProbe(daemon.child, { collect: true });
  return { atMs: performance.now(), rssBytes: processFacts(daemon.child.pid ?? 0).rssBytes, ...answer };
}

/** A `sync` beside the daemon: it asks the daemon for the run, whose end brings a report. */
async function runOne({ folder, names }: ManyCompanies, round: number): Promise<void> {
  const args = ["sync", "-q", "--quick", "--company", names[round % names.length] ?? ""];
  await startProcess(folder, args).ended;
}

/** Ends all deliveries, has everything read once more, and compares. */
async function comeToRest(many: ManyCompanies, daemon: Process): Promise<string[]> {
  await many.sandbox.control.webhooks.idle(60_000, { withinMs: Infinity });
  const run = startProcess(many.folder, ["sync", "--json", "--full", "--allow-mass-delete"], 10 * minuteMs);
  const { code } = await run.ended;
  if (code !== 0) return [`sync --full ended with ${code}: ${run.stderr().slice(-2_000)}`];
  if (daemon.child.exitCode !== null) return [`serve ended: ${daemon.stderr().slice(-2_000)}`];
  return many.names.flatMap((name, i) => {
    const truth = truthOf(many.sandbox, i);
    return look(many.mirror(i), (db) => differences(db, truth)).map((what) => `I11 ${name}: ${what}`);
  });
}

function descriptorsOf({ child }: Process): Descriptors {
  const { descriptors, sockets } = processFacts(child.pid ?? 0);
  return { files: descriptors - sockets, sockets };
}

/** Kept connections end by and by; what is still open then stays open. */
async function descriptorsAtRest(
  daemon: Process,
  before: Descriptors,
  companies: number,
): Promise<Descriptors> {
  for (const endMs = performance.now() + 10_000; ; await pause(100)) {
    const now = descriptorsOf(daemon);
    if (judgeDescriptors(before, now, companies).broken.length === 0 || performance.now() > endMs) return now;
  }
}

/** Pure: files as many as after the warm-up, and sockets, but for one that each company keeps to the service. */
export function judgeDescriptors(before: Descriptors, after: Descriptors, companies: number): SoakResult {
  const text = ({ files, sockets }: Descriptors) => `${files} files and ${sockets} sockets`;
  const line = `descriptors: ${text(before)} after warm-up, ${text(after)} at the end`;
  const leaks = after.files > before.files || after.sockets > before.sockets + companies;
  return { lines: [line], broken: leaks ? [`descriptors leak: ${line}`] : [] };
}

/**
 * Pure: no stall may keep the processor busy for over 200 ms. What else a stall was made of, the machine, the disk or
 * threads of the garbage collection, is shown.
 */
export function judgeStalls(samples: readonly SoakSample[]): SoakResult {
  const busiest = longestBy(
    "cpuMs",
    samples.map((sample) => sample.busiest),
  );
  const longest = longestBy(
    "wallMs",
    samples.map((sample) => sample.longest),
  );
  const lines = [`busiest stall: ${stallText(busiest)}`, `longest stall: ${stallText(longest)}`];
  return { lines, broken: busiest.cpuMs > aims.stallMs ? [`the event loop stalls: ${lines[0]}`] : [] };
}

/**
 * Pure: memory grows where it is larger by 3 MB, and after a minute where the slope is above its aim by more than three
 * times its error: before, the engine still compiles what runs often.
 */
export function judgeHeap(samples: readonly SoakSample[]): SoakResult {
  const { slope, error } = slopeOf(samples.map(({ atMs, heapBytes }) => [atMs / (60 * minuteMs), heapBytes]));
  const third = Math.ceil(samples.length / 3);
  const growth = medianHeap(samples.slice(-third)) - medianHeap(samples.slice(0, third));
  const rss = Math.max(...samples.map(({ rssBytes }) => rssBytes));
  const line = `heap: ${mb(medianHeap(samples))} MB, ${mb(slope)} ± ${mb(error)} MB an hour over ${samples.length} looks, ${mb(growth)} MB from the first third to the last; resident ${mb(rss)} MB at most`;
  const lastedMs = (samples.at(-1)?.atMs ?? 0) - (samples[0]?.atMs ?? 0);
  const grows = lastedMs > minuteMs && slope - 3 * error > aims.growthBytesPerHour;
  return { lines: [line], broken: grows || growth > mostHeapGrowthBytes ? [`memory grows: ${line}`] : [] };
}

function mb(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

function medianHeap(samples: readonly SoakSample[]): number {
  return samples.map(({ heapBytes }) => heapBytes).toSorted((a, b) => a - b)[samples.length >> 1] ?? 0;
}

/** Least squares, with the standard error of the slope. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): { slope: number; error: number } {
  const n = points.length;
  const mean = (pick: 0 | 1) => points.reduce((sum, point) => sum + point[pick], 0) / n;
  const [mx, my] = [mean(0), mean(1)];
  const sxx = points.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
  const slope = points.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0) / sxx;
  const left = points.reduce((sum, [x, y]) => sum + (y - my - slope * (x - mx)) ** 2, 0);
  return { slope, error: Math.sqrt(left / (n - 2) / sxx) };
}
