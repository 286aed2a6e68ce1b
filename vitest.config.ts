import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Programs that tests start need not be stripped of their types and compiled each time. */
const compiled = fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));
/** By `build-program.ts`. */
const built = fileURLToPath(new URL(".built/main.js", import.meta.url));

/** What they measure is of their process, so each has one of its own. */
const measured = ["test/http/limits.test.ts", "test/sandbox/seeding.test.ts", "test/webhook/burst.test.ts"];
const others = { include: ["test/**/*.test.ts"], exclude: ["test/bench/**", "node_modules/**", ...measured] };

export default defineConfig({
  test: {
    // No module keeps state that a test could see: files share a process, which saves loading the program for each.
    projects: [
      { extends: true, test: { name: "measured", include: measured } },
      { extends: true, test: { name: "all", isolate: false, ...others } },
    ],
    setupFiles: ["test/support/fixed-seed.ts"],
    globalSetup: ["test/support/postgres-notice.ts", "test/support/build-program.ts"],
    env: { NODE_COMPILE_CACHE: compiled, BUILT_PROGRAM: built },
    pool: "forks",
    // One more than the two cores that the promise of five minutes counts: many tests wait for other processes.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
