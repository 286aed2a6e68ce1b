import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Path of the program's entry file: `src/main.ts`, or in the built package `main.js` beside this code. */
export function ownEntry(): string {
  const source = new URL("../../main.ts", import.meta.url);
  return fileURLToPath(existsSync(source) ? source : new URL("./main.js", import.meta.url));
}

/** What a child makes is complete or not there, so it may be ended in the middle. */
const stopGraceMs = 15_000;

/**
 * Runs this program with other arguments in a process of its own; its stderr is ours. Sends SIGTERM when
 * `signal` aborts, and SIGKILL 15 s later. Resolves to the exit code, or null when a signal ended it; rejects when it cannot start.
 */
export function runOwn(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [ownEntry(), ...args], {
      env,
      stdio: ["ignore", "ignore", "inherit"],
    });
    let kill: NodeJS.Timeout | undefined;
    const stop = () => {
      child.kill("SIGTERM");
      kill = setTimeout(() => child.kill("SIGKILL"), stopGraceMs);
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    child.once("error", reject);
    child.once("close", (code) => {
      signal.removeEventListener("abort", stop);
      clearTimeout(kill);
      resolve(code);
    });
  });
}
