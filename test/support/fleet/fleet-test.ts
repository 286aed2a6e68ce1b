import { test as plainTest } from "vitest";
import { openFleet } from "./fleet.ts";

/** A test with what a fleet shares, in a database of its own, where it names it. */
export const test = plainTest.extend("fleet", () => openFleet());
