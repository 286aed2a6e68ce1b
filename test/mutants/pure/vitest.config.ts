import path from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { instrument } from "./instrument.ts";
import { partNamed } from "./parts.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const part = partNamed(process.env["MUTATED_PART"]);
const { code } = instrument(part);

const config = defineConfig({
  plugins: [
    {
      name: "mutants",
      enforce: "pre",
      transform: (_source, id) => code.get(path.relative(root, id)),
    },
  ],
  test: {
    root,
    include: [...part.tests],
    exclude: ["node_modules/**", ...(part.without ?? [])],
    setupFiles: ["test/support/fixed-seed.ts", "test/mutants/pure/quick-failure.ts"],
    runner: "./test/mutants/pure/runner.ts",
    pool: "forks",
    isolate: false,
    fileParallelism: false,
    // It would keep the mutants of one part for the tests of another.
    fsModuleCache: false,
    testTimeout: 60_000,
  },
});

// Vitest asks for a default export.
export { config as default };
