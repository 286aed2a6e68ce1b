import { existsSync, mkdtempDisposableSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const memory = "/dev/shm";

/** Where a file costs no disk, if there is room: a process that dies loses nothing there either. */
export function memoryFolder(): string {
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 2e9 ? memory : tmpdir();
}

/** A folder there, for as long as its scope, or until it is removed. */
export function memoryScratch() {
  const made = mkdtempDisposableSync(path.join(memoryFolder(), "fintoro-mirror-"));
  const remove = () => made.remove();
  return { path: made.path, remove, [Symbol.dispose]: remove };
}
