import type { SimulatedMachine } from "./simulated-machine.ts";

/** Where requests take long, the service takes long: an aborted one reaches it soon, unless it strays. */
const longestWayMs = 300;
const givenUpMs = 45_000;
const longestStrayMs = 14_500;

/** How long a request is on its way to the service. */
export function wayThereMs(machine: SimulatedMachine, latencyMs: number): number {
  const { network, choice } = machine;
  if (latencyMs < givenUpMs)
    return Math.min(
      latencyMs * (choice.below(100) / 100),
      network.spreadMs > 0 || network.evenMs > 0 ? longestWayMs : Infinity,
    );
  machine.meet("request counted after it was given up");
  return latencyMs;
}

/** How long a request takes until its answer is here. */
export function latencyOf({ network: { slow, stray, spreadMs, evenMs }, choice }: SimulatedMachine): number {
  if (stray > 0 && choice.probability(stray)) return givenUpMs + choice.below(longestStrayMs);
  if (slow > 0 && choice.probability(slow)) return 2_000 + choice.below(40_000);
  if (evenMs > 0) return 30 + choice.below(evenMs);
  return spreadMs > 0 ? 30 + spreadMs * (choice.below(1_000) / 1_000) ** 3 : 30 + choice.below(200);
}
