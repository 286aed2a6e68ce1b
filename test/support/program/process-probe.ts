import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { getHeapSpaceStatistics } from "node:v8";
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
  const answer = async (collect: boolean) => {
    const heapBytes = collect ? await collectAll() : heapNow();
    process.send?.({ heapBytes, busiest, longest } satisfies ProbeAnswer);
    [busiest, longest] = [noStall, noStall];
    last = timesNow();
  };
  process.on("message", ({ collect }: { readonly collect: boolean }) => void answer(collect));
  // The program ends when nothing else keeps it.
  channel.unref();
}

/**
 * Of all but the engine's spaces for compiled code and what it notes about it: these grow for hours, as functions that
 * run once a minute become worth compiling.
 */
function heapNow(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name: name }) => !/code|trusted/.test(name));
  const { external } = process.memoryUsage();
  return spaces.reduce((sum, { space_used_size: bytes }) => sum + bytes, external);
}

/** Collects until nothing more goes: what a collection finds unused is often held by something that the next one finds. */
async function collectAll(): Promise<number> {
  let least = Infinity;
  for (let [all, vain] = [0, 0]; all < 60 && vain < 5; all++) {
    globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
    const now = heapNow();
    vain = now < least - 10_000 ? 0 : vain + 1;
    least = Math.min(least, now);
    await pause(50);
  }
  return least;
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
