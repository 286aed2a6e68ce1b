import { expect, test } from "vitest";
import { soak } from "./soak.ts";

// Fault: process | deliveries that are lost, doubled and reordered, runs beside the daemon, SIGHUPs and a kill, all at once | a process of `serve` for several companies | mirrors equal the service, and memory, descriptors and the event loop are as before
test("a short soak leaves mirrors equal, what was answered 2xx kept, and no descriptor, memory or stall behind (I2 I5 I6 I9 I11)", async () => {
  const plan = { durationMs: 4_000, companies: 3, kills: 1, roundMs: 150, restMs: 0 };
  const { lines, broken } = await soak(plan);
  expect(broken, lines.join("\n")).toEqual([]);
});
