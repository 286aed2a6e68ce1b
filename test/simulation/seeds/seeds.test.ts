import { afterAll, expect, test } from "vitest";
import { scenarioFromSeed } from "./scenario-from-seed.ts";
import { removeSimulations, simulateScenario } from "./simulate-scenario.ts";

afterAll(removeSimulations);

const seeds = Array.from({ length: 12 }, (_, i) => i + 1);

/** A few seeds; `npm run simulate -- --seeds 10000` makes many more. */
test.each(seeds)(
  "seed %i: crashes, losses of power, lost requests and deliveries, clocks set; at rest mirror and service are equal (I1 I4 I6 I11)",
  async (seed) => {
    const { broken, story } = await simulateScenario(scenarioFromSeed(seed));
    expect({ broken, story: broken.length > 0 ? story : [] }).toEqual({ broken: [], story: [] });
  },
);

test("a seed that is simulated again does the same things at the same times", async () => {
  const [once, again] = [
    await simulateScenario(scenarioFromSeed(3)),
    await simulateScenario(scenarioFromSeed(3)),
  ];
  expect(again.story).toEqual(once.story);
  expect(again.traceHash).toBe(once.traceHash);
});
