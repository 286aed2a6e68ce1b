import { fileURLToPath } from "node:url";

const compiled = fileURLToPath(new URL("../../../node_modules/.cache/compiled", import.meta.url));

/** The entry file of the program that tests start: bundled where Vitest runs them, else the source. */
export const program =
  process.env["BUILT_PROGRAM"] ?? fileURLToPath(new URL("../../../src/main.ts", import.meta.url));

/**
 * What a process of a test gets of ours, and nothing else: no token and no config of whoever runs the tests. The
 * compile cache halves the start of each of them.
 */
export function processEnv(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = "", NODE_COMPILE_CACHE = compiled } = process.env;
  return { PATH, NODE_COMPILE_CACHE, ...more };
}
