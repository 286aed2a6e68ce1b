import { expect, test } from "vitest";
import { simulateEvents } from "./event-simulation.ts";

/** A short simulation; `npm run simulate -- --events` makes many more. */
test.each([2])(
  "seed %i: events lost, doubled and reordered, serve killed and started again; mirror and service are equal after one quiet run (I2 I5 I6 I9 I11)",
  async (seed) => {
    const { broken, events } = await simulateEvents(seed);
    expect({ broken, events: broken.length > 0 ? events : [] }).toEqual({ broken: [], events: [] });
  },
  90_000,
);
