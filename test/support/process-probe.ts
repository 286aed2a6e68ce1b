import { readFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";
import { noStall, type ProbeAnswer, type Stall } from "./stall.ts";

const tickMs = 5;

/**
 * Loaded into a process before its program, with `--expose-gc` and a channel to its parent: measures stalls, and
 * answers each message with what it measured. Linux only.
 */
function probe(channel: NonNullable<typeof process.channel>): void {
  let [busiest, longest] = [noStall, noStall];
  let last = timesNow();
  setInterval(() => {
    const now = timesNow();
    const stall = stallBetween(last, now);
    if (stall.cpuMs > busiest.cpuMs) busiest = stall;
    if (stall.wallMs > longest.wallMs) longest = stall;
    last = now;
  }, tickMs).unref();
  process.on("message", ({ collect }: { readonly collect: boolean }) => {
    if (collect) globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    process.send?.({ heapBytes: heapUsed + external, busiest, longest } satisfies ProbeAnswer);
    [busiest, longest] = [noStall, noStall];
    last = timesNow();
  });
  // The program ends when nothing else keeps it.
  channel.unref();
}

/** Of the main thread, ms: of the clock, of work, and of waiting for the processor. */
function timesNow() {
  const { user, system } = process.threadCpuUsage();
  const waited = Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[1]);
  return { wallMs: performance.now(), cpuMs: (user + system) / 1e3, waitedMs: waited / 1e6 };
}

type Times = ReturnType<typeof timesNow>;

function stallBetween(before: Times, now: Times): Stall {
  const wallMs = now.wallMs - before.wallMs;
  const cpuMs = now.cpuMs - before.cpuMs;
  const preemptedMs = Math.min(now.waitedMs - before.waitedMs, wallMs - cpuMs);
  return { wallMs, cpuMs, preemptedMs, blockedMs: wallMs - cpuMs - preemptedMs };
}

if (isMainThread && process.channel) probe(process.channel);
