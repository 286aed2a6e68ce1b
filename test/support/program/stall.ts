import type { ChildProcess } from "node:child_process";
import { once } from "node:events";

/** A time in which the event loop of a process did not turn, ms. */
export interface Stall {
  readonly wallMs: number;
  /** The main thread worked. */
  readonly cpuMs: number;
  /** It could have worked, and other processes had the processor: the machine's part. */
  readonly preemptedMs: number;
  /** It waited: for the disk, or for threads that collect garbage with it. */
  readonly blockedMs: number;
}

export interface ProbeAnswer {
  /** Of objects and buffers, without compiled code; where that was asked, after all garbage was collected. */
  readonly heapBytes: number;
  /** Since the question before, the longest by `cpuMs` and by `wallMs`. */
  readonly busiest: Stall;
  readonly longest: Stall;
}

export const noStall: Stall = { wallMs: 0, cpuMs: 0, preemptedMs: 0, blockedMs: 0 };

/** What the probe of a process measured; `collect` has it collect all garbage first. */
export async function askProbe(child: ChildProcess, question: { readonly collect: boolean }) {
  const answered = once(child, "message", { signal: AbortSignal.timeout(60_000) });
  child.send(question);
  const [answer] = (await answered) as [ProbeAnswer];
  return answer;
}

export function longestBy(time: "wallMs" | "cpuMs", stalls: readonly Stall[]): Stall {
  return stalls.reduce((most, stall) => (stall[time] > most[time] ? stall : most), noStall);
}

export function stallText({ wallMs, cpuMs, preemptedMs, blockedMs }: Stall): string {
  const [wall, cpu, preempted, blocked] = [wallMs, cpuMs, preemptedMs, blockedMs].map(Math.round);
  return `${wall} ms: ${cpu} at work, ${preempted} without the processor, ${blocked} waiting for the disk or other threads`;
}
