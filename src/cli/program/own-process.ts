import { spawn } from "node:child_process";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** The program's own file: `.ts` in the source, `.js` in the built package. */
export function ownEntry(): string {
  const ending = path.extname(fileURLToPath(import.meta.url));
  return fileURLToPath(new URL(`../../main${ending}`, import.meta.url));
}

/**
 * This very program with other arguments, what it says going where our own words go. Gives its exit code; null
 * when it was ended by a signal. Ends with SIGTERM when `signal` aborts.
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
