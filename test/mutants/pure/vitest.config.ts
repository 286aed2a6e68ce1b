import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { partNamed } from "./parts.ts";

const { tests, without = [] } = partNamed(process.env["MUTATED_PART"]);

const config = defineConfig({
  test: {
    root: fileURLToPath(new URL("../../..", import.meta.url)),
    include: [...tests],
    exclude: ["node_modules/**", ...without],
    setupFiles: ["test/support/fixed-seed.ts", "test/mutants/pure/quick-failure.ts"],
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});

// Vitest asks for a default export.
export { config as default };
