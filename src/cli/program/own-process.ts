import { spawn } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** Path of the program's entry file: `.ts` in the source, `.js` in the built package. */
export function ownEntry(): string {
  const ending = path.extname(fileURLToPath(import.meta.url));
  return fileURLToPath(new URL(`../../main${ending}`, import.meta.url));
}

/**
 * Runs this program with other arguments in a process of its own; its stderr is ours. Sends SIGTERM when
 * `signal` aborts. Resolves to the exit code, or null when a signal ended it; rejects when it cannot start.
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
    const stop = () => void child.kill("SIGTERM");
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    child.once("error", reject);
    child.once("close", (code) => {
      signal.removeEventListener("abort", stop);
      resolve(code);
    });
  });
}
