import { afterAll, expect, test } from "vitest";
import { scenarioFromSeed, type Profile } from "./scenario-from-seed.ts";
import { removeSimulations } from "../machine/simulated-disk.ts";
import { simulateScenario } from "./simulate-scenario.ts";

afterAll(removeSimulations);

const seeds = Array.from({ length: 18 }, (_, i) => i + 1);

const storyOf = async (profile: Profile, seed: number) => {
  const { broken, story } = await simulateScenario(scenarioFromSeed(seed, profile));
  return broken.length > 0 ? [...broken, ...story] : [];
};

/** A few seeds; `npm run simulate -- --seeds 10000` makes many more. */
// Fault: process | a process dies at a named point or loses its power | simulated process, before, in and after transactions, requests and answers | every invariant holds, and at rest the mirror equals the service
// Fault: disk | the power is lost: the log ends at a transaction, in the middle of one, or with torn frames | simulated disk, at any point of a process | the state after a whole transaction: what was committed is there, what was answered 204 is kept; at rest it equals the service
// Fault: clock | the wall clock is set forward and back, by seconds to a day | simulated machine, while a process works | nothing is lost or deleted; the next run reads what is due
test.each(seeds)(
  "seed %i: crashes, losses of power, lost requests and deliveries, clocks set; at rest mirror and service are equal (I1 I4 I6 I11)",
  async (seed) => expect(await storyOf("wide", seed)).toEqual([]),
);

// Fault: network | reads of one record overlap, by seconds to half a minute | simulated network, while people change the record in bursts and its events arrive | no older answer wins, and each event is followed by a read
test.each(seeds)(
  "dense seed %i: few records change in bursts while slow requests read them and processes end; at rest mirror and service are equal (I1 I3 I4 I5 I11)",
  async (seed) => expect(await storyOf("dense", seed)).toEqual([]),
);

// Fault: identity | a process asks with the token of another company, of another name or the same | simulated process, `sync` and `serve`, once the mirror belongs to a company | exit code 4, nothing written
// Fault: secrets | errors repeat the token, whole, in part or cut off | simulated network, instead of an answer | the token is in no log, file or error
// Fault: webhook | deliveries come together, again, unreadable or of an unknown type, and the disk is full | simulated deliveries to `serve` | what is answered 204 is kept once, the rest is sent again
// Fault: data | lists show records that cannot become rows, records without an id, numbers of 19 digits | simulated service | all are kept as they came, and the run says so
test.each(seeds)(
  "unusual seed %i: other tokens, indiscreet answers, malformed records, deliveries together and again (I6 I7 I9 I10 I12)",
  async (seed) => expect(await storyOf("unusual", seed)).toEqual([]),
);

// Fault: process | runs are stopped by a limit of requests, a signal, a kill, a crash, and the clock is set | simulated runs that read a number of parents' lists each | a chain of resumed runs reads one share, no list twice
test.each(seeds)(
  "stopped seed %i: runs that seldom come to their end go on where they were, and share their parents' lists (I1 I7 I11)",
  async (seed) => expect(await storyOf("stopped", seed)).toEqual([]),
);

test("a seed that is simulated again does the same things at the same times", async () => {
  const once = await simulateScenario(scenarioFromSeed(7));
  const again = await simulateScenario(scenarioFromSeed(7));
  expect(again.story).toEqual(once.story);
});
