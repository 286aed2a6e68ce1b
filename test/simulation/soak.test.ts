import { expect, test } from "vitest";
import { judgeDescriptors, judgeHeap, judgeStalls, type QuietLook } from "./checks/soak-judgement.ts";
import { soak } from "./soak.ts";

const mb = 2 ** 20;

/** Looks spread over so long; the heap is what the function says, with the noise of a daemon at rest. */
function looksOver(minutes: number, heapMb: (minute: number) => number): QuietLook[] {
  return Array.from({ length: 13 }, (_, i) => {
    const minute = (minutes * i) / 12;
    return { loadMs: minute * 60_000, heapBytes: (heapMb(minute) + ((i * 7) % 5) / 50) * mb, rssBytes: 0 };
  });
}

test("a heap that grows is found after seconds where it grows fast, and after an hour where it grows slowly", () => {
  expect(judgeHeap(looksOver(0.1, () => 50)).broken).toEqual([]);
  expect(judgeHeap(looksOver(60, () => 50)).broken).toEqual([]);
  expect(judgeHeap(looksOver(0.1, (minute) => 50 + 40 * minute)).broken).toHaveLength(1);
  expect(judgeHeap(looksOver(60, (minute) => 50 + (1.5 * minute) / 60)).broken).toHaveLength(1);
  expect(judgeHeap(looksOver(60, (minute) => 50 + (0.5 * minute) / 60)).broken).toEqual([]);
});

test("a file more than after the warm-up is a leak, and more sockets than companies keep to the service", () => {
  const before = { files: 40, sockets: 10 };
  expect(judgeDescriptors(before, { files: 40, sockets: 12 }, 2).broken).toEqual([]);
  expect(judgeDescriptors(before, { files: 41, sockets: 8 }, 2).broken).toHaveLength(1);
  expect(judgeDescriptors(before, { files: 40, sockets: 23 }, 2).broken).toHaveLength(1);
});

test("a stall is ours where the process worked, and the machine's where it had no processor", () => {
  const stalls = [190, 210].map((cpuMs) => ({ wallMs: 900, cpuMs, preemptedMs: 900 - cpuMs, blockedMs: 0 }));
  const [short, long] = stalls.map((stall) => judgeStalls([{ busiest: stall, longest: stall }]));
  expect(short?.broken).toEqual([]);
  expect(long?.broken).toHaveLength(1);
});

// Fault: process | deliveries that are lost, doubled and reordered, runs beside the daemon, SIGHUPs and a kill, all at once | a process of `serve` for several companies | mirrors equal the service, and memory, descriptors and the event loop are as before
test("a short soak leaves mirrors equal, what was answered 2xx kept, and no descriptor, memory or stall behind (I2 I5 I6 I9 I11)", async () => {
  const plan = { durationMs: 4_000, companies: 3, kills: 1, roundMs: 150, quietLooks: 4, restMs: 0 };
  const { lines, broken } = await soak(plan);
  expect(broken, lines.join("\n")).toEqual([]);
});
