import { spawn } from "node:child_process";
import { memoryFolder } from "../support/memory-folder.ts";

/** How a process ended; `code` is null when its time was over and it was killed. */
export interface BoundedEnd {
  readonly code: number | null;
  readonly output: string;
}

/**
 * Runs a program of Node with a bounded time, then kills it with all that it started.
 */
export function runBounded(
  args: readonly string[],
  { folder, timeoutMs }: { readonly folder: string; readonly timeoutMs: number },
): Promise<BoundedEnd> {
  const { promise, resolve } = Promise.withResolvers<BoundedEnd>();
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, TMPDIR: memoryFolder() },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const timer = setTimeout(kill, timeoutMs);
  process.once("exit", kill);
  const add = (text: Buffer) => (output += text.toString());
  child.stdout.on("data", add);
  child.stderr.on("data", add);
  child.on("close", (code) => {
    clearTimeout(timer);
    process.off("exit", kill);
    kill();
    resolve({ code, output });
  });
  return promise;
}
