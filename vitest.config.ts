import { statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, JsonReporter, type TestSpecification } from "vitest/node";
import { SlowestReporter } from "./test/support/slowest-reporter.ts";

/** Programs that tests start need not be stripped of their types and compiled each time. */
const compiled = fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));
/** By `build-program.ts`. */
const built = fileURLToPath(new URL(".built/main.js", import.meta.url));

/** What they measure is of their process, so each has one of its own. */
const measured = ["test/http/limits.test.ts", "test/webhook/burst.test.ts"];
/**
 * They wait for leases, limits and other processes in real time, go through every point of something (each 512 bytes of
 * a log, each block of the documents), through files as large as may be, or through days of a large company request by
 * request: `npm run test:long`.
 */
const long = [
  "crash/points",
  "fleet/processes/under-fire",
  "e2e/serve/publish",
  "simulation/scenarios/scenarios",
  "fleet/processes/start-stop",
  "fleet/worker/node",
  "fleet/worker/after-runs",
  "fleet/processes/restored-database",
  "fleet/processes/postgres-outage",
  "fleet/jobs",
  "simulation/soak",
  "e2e/serve/handover",
  "cli/demo",
  "fleet/receiver/outage",
  "fleet/snapshot/snapshot",
  "fleet/snapshot/restore",
  "fleet/reports/reports",
  "fleet/processes/reports",
  "fleet/processes/packages",
  "fleet/processes/files",
  "crash/small-disk",
  "crash/owner",
  "files/memory",
  "docs/blocks",
  "e2e/serve/clients",
  "e2e/serve/backup",
  "mcp/assistant",
].map((name) => `test/${name}.test.ts`);
/** Folders of units and properties of them, without another process: `npm run test:unit`, and the first of `npm test`. */
const units = [
  "base",
  "config",
  "connector",
  "extract",
  "json",
  "log",
  "rate-limit",
  "retry",
  "status",
  "store",
  "sync",
].map((name) => `test/${name}/`);
const others = {
  include: process.env["TEST_UNITS"] ? units.map((folder) => `${folder}**/*.test.ts`) : ["test/**/*.test.ts"],
  exclude: ["test/bench/**", "node_modules/**", ...measured, ...long],
};

/** They take longest: begun beside files that work. */
const longest = ["e2e/outage"].map((name) => `test/${name}.test.ts`);
/**
 * The others follow by size, as Vitest has them where it knows no durations. What needs a process of its own comes first:
 * Vitest ends a process as soon as the next file is of another project.
 */
const first = [...measured, ...units, ...long, ...longest];

/** The lower the earlier. */
function rankOf({ moduleId }: TestSpecification): number {
  const at = first.findIndex((name) => moduleId.includes(`/${name}`));
  return at === -1 ? first.length : at;
}

class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sizes = new Map(files.map(({ moduleId }) => [moduleId, statSync(moduleId).size]));
    const sizeOf = ({ moduleId }: TestSpecification) => sizes.get(moduleId) ?? 0;
    return Promise.resolve(files.toSorted((a, b) => rankOf(a) - rankOf(b) || sizeOf(b) - sizeOf(a)));
  }
}

const report = process.env["TEST_REPORT"];

export default defineConfig({
  test: {
    // No module keeps state that a test could see: files share a process, which saves loading the program for each.
    projects: [
      { extends: true, test: { name: "measured", include: measured } },
      { extends: true, test: { name: "all", isolate: false, ...others } },
      { extends: true, test: { name: "long", isolate: false, include: long } },
    ],
    setupFiles: ["test/support/fixed-seed.ts"],
    globalSetup: ["test/support/postgres/notice.ts", "test/support/program/build-program.ts"],
    env: { NODE_COMPILE_CACHE: compiled, BUILT_PROGRAM: built },
    pool: "forks",
    // Node loads the program itself: what Vite makes of modules takes a sixth more processor time.
    server: { deps: { external: [/\/(?:src|connectors)\/(?!.*\/test\/).*\.ts$/] } },
    // Two more than the two cores that the promise of five minutes counts: many tests wait for other processes.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    // Longer than `longestWaitMs` of the tests: what waits says first what it waits for.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 180_000, interval: 20 } },
    // `TEST_REPORT`: the file for the results as JSON, from which `.ci/run` counts.
    reporters: [
      "default",
      new SlowestReporter(),
      ...(report === undefined ? [] : [new JsonReporter({ outputFile: report })]),
    ],
  },
});
