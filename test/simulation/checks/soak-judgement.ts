import { longestBy, stallText, type Stall } from "../../support/program/stall.ts";

/** By so much the heap may be larger at the end: what the engine compiled since counts as well. */
const mostGrowthBytes = 3 * 2 ** 20;
const mostStallMs = 200;
/** Connections to the service that a company keeps for a minute after a run, at most. */
const keptConnections = 6;

/** The longest stalls since the look before. */
export interface StallSample {
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
  return { lines, broken: busiest.cpuMs > mostStallMs ? [`the event loop stalls: ${lines[0]}`] : [] };
}

/** Pure: all garbage is collected, after the warm-up and at the end. */
export function judgeHeap(beforeBytes: number, afterBytes: number): SoakResult {
  const [before, after] = [beforeBytes, afterBytes].map((bytes) => (bytes / 2 ** 20).toFixed(2));
  const line = `heap at rest: ${before} MB after warm-up, ${after} MB at the end`;
  return {
    lines: [line],
    broken: afterBytes - beforeBytes > mostGrowthBytes ? [`memory grows: ${line}`] : [],
  };
}
