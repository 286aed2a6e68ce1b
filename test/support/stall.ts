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

/** What a probed process answers. */
export interface ProbeAnswer {
  /** Of the engine and its buffers, after all garbage was collected. */
  readonly heapBytes: number;
  /** Since the question before, the longest by `cpuMs` and by `wallMs`. */
  readonly busiest: Stall;
  readonly longest: Stall;
}

export const noStall: Stall = { wallMs: 0, cpuMs: 0, preemptedMs: 0, blockedMs: 0 };
