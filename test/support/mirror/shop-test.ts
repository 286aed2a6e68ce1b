import { test as plainTest } from "vitest";
import { WorkQueue } from "../../../src/state/work-queue.ts";
import { openHasty } from "./mirror.ts";
import { runContextOf } from "./run.ts";

/**
 * A test with a mirror of the shop, opened as `openHasty` does, the mirror's queue, and a run of all resources at its
 * beginning, where it names them. In a file of its own: what it makes needs a run of tests, which the simulation is not.
 */
export const test = plainTest
  .extend("mirror", () => openHasty())
  .extend("queue", ({ mirror }) => new WorkQueue(mirror.db))
  .extend("run", ({ mirror }) => runContextOf(mirror));
