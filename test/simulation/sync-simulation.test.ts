import { expect, test } from "vitest";
import { simulate } from "./sync-simulation.ts";

/** A few stories each time; many more with `npm run simulate`. */
test.each([1, 2, 3, 4, 5, 6])(
  "seed %i: a stormy service, cut off runs, and a mirror that is equal at rest (I1 I2 I5 I8 I11)",
  async (seed) => {
    const story = await simulate(seed);
    expect({ broken: story.broken, events: story.broken.length > 0 ? story.events : [] }).toEqual({
      broken: [],
      events: [],
    });
  },
  60_000,
);
