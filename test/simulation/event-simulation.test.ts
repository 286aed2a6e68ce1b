import { expect, test } from "vitest";
import { simulateEvents } from "./event-simulation.ts";

/** A few short simulations at the same time, as they mostly wait; `npm run simulate -- --events` makes many more. */
test.concurrent.each([2, 3])(
  "seed %i: events lost, doubled and reordered, serve killed and started again; mirror and service are equal after one quiet run (I2 I5 I6 I9 I11)",
  async (seed) => {
    const { broken, events } = await simulateEvents(seed);
    expect({ broken, events: broken.length > 0 ? events : [] }).toEqual({ broken: [], events: [] });
  },
  90_000,
);
