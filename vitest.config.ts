import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

/** Programs that tests start need not be stripped of their types and compiled each time. */
const compiled = fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/bench/**", "node_modules/**"],
    setupFiles: ["test/support/fixed-seed.ts"],
    env: { NODE_COMPILE_CACHE: compiled },
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
