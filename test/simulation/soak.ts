import { setTimeout as pause } from "node:timers/promises";
import { differences, look } from "../support/compare.ts";
import {
  longestStallMs,
  openManyCompanies,
  processFacts,
  type ManyCompanies,
  type ProcessFacts,
} from "../support/many-companies.ts";
import { endServe, startProcess, startServe, type Process } from "../support/serve-process.ts";
import { truthOf } from "../support/truth.ts";

const count = 50;
/** After the last kill; what comes before it is warm-up. */
const steadyShare = 0.6;
const aims = { growthMbPerHour: 1, stallMs: 200, descriptors: 50 };
const minuteMs = 60_000;
/** In less time than this, garbage collection hides whether memory grows. */
const judgedFromMs = 2 * minuteMs;

/** How one moment of the daemon looked. */
interface Sample extends ProcessFacts {
  readonly atMs: number;
  readonly stallMs: number;
}

/** What a soak found. */
export interface SoakResult {
  readonly lines: readonly string[];
  readonly broken: readonly string[];
}

/**
 * Serves 50 companies for so long: changes and their deliveries, runs, reports, SIGHUPs, and two kills in the first
 * two fifths. Then all mirrors must be equal to the service, and memory and descriptors must not have grown.
 */
export async function soak(durationMs: number): Promise<SoakResult> {
  const many = await openManyCompanies(count, 10);
  const processes: Process[] = [];
  const serve = async () => {
    const daemon = await startServe(many.folder, many.port, durationMs + 10 * minuteMs);
    processes.push(daemon);
    return daemon;
  };
  try {
    const endMs = performance.now() + durationMs;
    let daemon = await serve();
    const changes = startChanges(many, durationMs);
    for (let kills = 0; kills < 2; kills++) {
      await load(many, daemon, performance.now() + (durationMs * (1 - steadyShare)) / 2);
      await endServe(daemon, "SIGKILL");
      daemon = await serve();
    }
    const samples = await load(many, daemon, endMs);
    await changes;
    const broken = await comeToRest(many, daemon);
    const { code } = await endServe(daemon, "SIGTERM");
    if (code !== 0) broken.push(`SIGTERM ended with ${code}: ${daemon.stderr().slice(-500)}`);
    const judged = judge(samples);
    return { lines: judged.lines, broken: [...broken, ...judged.broken] };
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

/** Runs, SIGHUPs and readers of the pages until then. */
async function load(many: ManyCompanies, daemon: Process, endMs: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; performance.now() < endMs; round++) {
    await pause(Math.min(2_000, Math.max(0, endMs - performance.now())));
    if (round % 5 === 1) void runOne(many, round);
    if (round % 15 === 7) daemon.child.kill("SIGHUP");
    const stallMs = await longestStallMs(many.port);
    samples.push({ atMs: performance.now(), stallMs, ...processFacts(daemon.child.pid ?? 0) });
  }
  return samples;
}

/** A `sync` beside the daemon: it asks the daemon for the run, whose end brings a report. */
async function runOne({ folder, names }: ManyCompanies, round: number): Promise<void> {
  const args = ["sync", "-q", "--quick", "--company", names[round % count] ?? ""];
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

/** The first half of the steady time is warm-up. The lowest of each tenth: what is left after garbage collection. */
function judge(samples: readonly Sample[]): SoakResult {
  const steady = samples.slice(Math.floor(samples.length / 2));
  const stalls = samples.map(({ stallMs }) => stallMs).toSorted((a, b) => a - b);
  const worstMs = stalls.at(-1) ?? 0;
  const tenths = Array.from({ length: 10 }, (_, i) => {
    const part = steady.slice((i * steady.length) / 10, ((i + 1) * steady.length) / 10);
    return part.toSorted((a, b) => a.rssBytes - b.rssBytes).slice(0, 1);
  }).flat();
  const { slope, error } = slopeOf(
    tenths.map(({ atMs, rssBytes }) => [atMs / (60 * minuteMs), rssBytes / 2 ** 20] as const),
  );
  const [first, last] = [steady[0]?.descriptors ?? 0, steady.at(-1)?.descriptors ?? 0];
  const peakMb = Math.max(...samples.map(({ peakBytes }) => peakBytes)) / 2 ** 20;
  const lines = [
    `memory: ${slope.toFixed(1)} ± ${error.toFixed(1)} MB an hour (aim: at most ${aims.growthMbPerHour}), peak ${peakMb.toFixed(0)} MB`,
    `descriptors: ${first} after warm-up, ${last} at the end`,
    `longest stall: ${worstMs.toFixed(0)} ms (aim: at most ${aims.stallMs}); half of ${stalls.length} looks: ${(stalls[Math.floor(stalls.length / 2)] ?? 0).toFixed(0)} ms`,
  ];
  const steadyMs = (steady.at(-1)?.atMs ?? 0) - (steady[0]?.atMs ?? 0);
  const broken = [
    ...(steadyMs > judgedFromMs && slope - 3 * error > aims.growthMbPerHour
      ? [`memory grows: ${lines[0]}`]
      : []),
    ...(last - first > aims.descriptors ? [`descriptors leak: ${lines[1]}`] : []),
  ];
  return { lines, broken };
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
