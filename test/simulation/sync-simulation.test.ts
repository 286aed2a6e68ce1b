import { expect, test } from "vitest";
import { simulate } from "./sync-simulation.ts";

/** A few simulations; `npm run simulate` makes many more. */
test.each([1, 4, 5, 6])(
  "seed %i: a failing service and interrupted runs end with a mirror equal to the service (I1 I2 I5 I8 I11)",
  async (seed) => {
    const result = await simulate(seed);
    expect({ broken: result.broken, events: result.broken.length > 0 ? result.events : [] }).toEqual({
      broken: [],
      events: [],
    });
  },
  60_000,
);
