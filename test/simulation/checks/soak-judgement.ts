import { hourMs, minuteMs } from "../../../src/base/clock.ts";
import { longestBy, stallText, type Stall } from "../../support/program/stall.ts";

const aims = { growthBytesPerHour: 2 ** 20, stallMs: 200 };
/** By so much the heap may be larger at the end of any soak: what the engine compiled since counts as well. */
const mostHeapGrowthBytes = 3 * 2 ** 20;

/** The longest stalls since the look before. */
export interface StallSample {
  readonly busiest: Stall;
  readonly longest: Stall;
}

/** The daemon at rest: nothing comes in, nothing is due, and all garbage is collected. */
export interface QuietLook {
  /** Time under load before it. */
  readonly loadMs: number;
  readonly heapBytes: number;
  readonly rssBytes: number;
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

/** Connections to the service that a company keeps for a minute after a run, at most. */
const keptConnections = 6;

/** Pure: files as many as after the warm-up, and sockets, but for those that each company keeps to the service. */
export function judgeDescriptors(before: Descriptors, after: Descriptors, companies: number): SoakResult {
  const text = ({ files, sockets }: Descriptors) => `${files} files and ${sockets} sockets`;
  const line = `descriptors: ${text(before)} after warm-up, ${text(after)} at the end`;
  const leaks = after.files > before.files || after.sockets > before.sockets + companies * keptConnections;
  return { lines: [line], broken: leaks ? [`descriptors leak: ${line}`] : [] };
}

/**
 * Pure: no stall may keep the processor busy for over 200 ms. What else a stall was made of, the machine, the disk or
 * threads of the garbage collection, is shown.
 */
export function judgeStalls(samples: readonly StallSample[]): SoakResult {
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
 * times its error: before, the engine still compiles what runs often. An hour is one under load.
 */
export function judgeHeap(looks: readonly QuietLook[]): SoakResult {
  const slopeText = (pick: (look: QuietLook) => number) => {
    const { slope, error } = slopeOf(looks.map((look) => [look.loadMs / hourMs, pick(look)]));
    return { slope, error, text: `${mb(slope)} ± ${mb(error)} MB an hour` };
  };
  const heap = slopeText(({ heapBytes }) => heapBytes);
  const rss = slopeText(({ rssBytes }) => rssBytes);
  const lastedMs = (looks.at(-1)?.loadMs ?? 0) - (looks[0]?.loadMs ?? 0);
  const growth = (looks.at(-1)?.heapBytes ?? 0) - (looks[0]?.heapBytes ?? 0);
  const line = `heap at rest: ${heap.text} over ${(lastedMs / minuteMs).toFixed(1)} minutes, ${looks.map((look) => mb(look.heapBytes)).join(" ")} MB`;
  const lines = [line, `resident: ${rss.text}, ${looks.map((look) => mb(look.rssBytes)).join(" ")} MB`];
  const grows = lastedMs > minuteMs && heap.slope - 3 * heap.error > aims.growthBytesPerHour;
  return { lines, broken: grows || growth > mostHeapGrowthBytes ? [`memory grows: ${line}`] : [] };
}

/** Pure. */
export function lookText({ loadMs, heapBytes, rssBytes }: QuietLook): string {
  return `after ${(loadMs / minuteMs).toFixed(1)} minutes under load, at rest: heap ${mb(heapBytes)} MB, resident ${mb(rssBytes)} MB`;
}

function mb(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(2);
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
