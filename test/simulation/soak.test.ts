import { expect, test } from "vitest";
import { noStall } from "../support/stall.ts";
import { judgeDescriptors, judgeHeap, judgeStalls, soak, type SoakSample } from "./soak.ts";

const mb = 2 ** 20;

/** One look a second; the heap is what the function says, with the noise of what is in flight. */
function samplesOf(count: number, heapMb: (second: number) => number): SoakSample[] {
  const still = { rssBytes: 0, busiest: noStall, longest: noStall };
  return Array.from({ length: count }, (_, i) => ({
    atMs: i * 1_000,
    heapBytes: (heapMb(i) + ((i * 7) % 5) / 10) * mb,
    ...still,
  }));
}

test("a heap that grows is found after seconds where it grows fast, and after an hour where it grows slowly", () => {
  expect(judgeHeap(samplesOf(10, () => 50)).broken).toEqual([]);
  expect(judgeHeap(samplesOf(3_600, () => 50)).broken).toEqual([]);
  expect(judgeHeap(samplesOf(10, (s) => 50 + s)).broken).toHaveLength(1);
  expect(judgeHeap(samplesOf(3_600, (s) => 50 + (2 * s) / 3_600)).broken).toHaveLength(1);
  expect(judgeHeap(samplesOf(3_600, (s) => 50 + (0.5 * s) / 3_600)).broken).toEqual([]);
});

test("a file more than after the warm-up is a leak, and more sockets than companies keep to the service", () => {
  const before = { files: 40, sockets: 10 };
  expect(judgeDescriptors(before, { files: 40, sockets: 12 }, 2).broken).toEqual([]);
  expect(judgeDescriptors(before, { files: 41, sockets: 8 }, 2).broken).toHaveLength(1);
  expect(judgeDescriptors(before, { files: 40, sockets: 13 }, 2).broken).toHaveLength(1);
});

test("a stall is ours where the process worked, and the machine's where it had no processor", () => {
  const [sample] = samplesOf(1, () => 50);
  const stalled = (cpuMs: number) => {
    const stall = { wallMs: 900, cpuMs, preemptedMs: 900 - cpuMs, blockedMs: 0 };
    return judgeStalls(sample ? [{ ...sample, busiest: stall, longest: stall }] : []);
  };
  expect(stalled(190).broken).toEqual([]);
  expect(stalled(210).broken).toHaveLength(1);
});

// Fault: process | deliveries, runs beside the daemon, SIGHUPs and a kill, all at once | a process of `serve` for several companies | mirrors equal the service, and memory, descriptors and the event loop are as before
test("a short soak leaves mirrors equal, and no descriptor, memory or stall behind", async () => {
  const { lines, broken } = await soak({ durationMs: 6_000, companies: 4, kills: 1, lookEveryMs: 150 });
  expect(broken, lines.join("\n")).toEqual([]);
}, 60_000);
