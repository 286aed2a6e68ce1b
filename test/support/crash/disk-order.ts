import fs from "node:fs";
import promises, { open, type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import path from "node:path";
import { onTestFinished, vi } from "vitest";

/**
 * Records from now on until the test ends what this process brings to the disk, and when it renames files, in order:
 * `sync NAME` of a file or folder, `rename NAME`: a file got this name.
 */
export async function recordDiskOrder() {
  const steps: string[] = [];
  const { fsyncSync, renameSync } = fs;
  const { rename } = promises;
  const handles = await prototypeOfHandles();
  const syncs = Reflect.get(handles, "sync");
  vi.spyOn(fs, "fsyncSync").mockImplementation((fd) => {
    steps.push(`sync ${nameOf(fd)}`);
    fsyncSync(fd);
  });
  vi.spyOn(handles, "sync").mockImplementation(function (this: FileHandle) {
    steps.push(`sync ${nameOf(this.fd)}`);
    return Reflect.apply(syncs, this, []);
  });
  vi.spyOn(fs, "renameSync").mockImplementation((from, to) => {
    steps.push(`rename ${path.basename(String(to))}`);
    renameSync(from, to);
  });
  vi.spyOn(promises, "rename").mockImplementation((from, to) => {
    steps.push(`rename ${path.basename(String(to))}`);
    return rename(from, to);
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  return { steps };
}

async function prototypeOfHandles(): Promise<FileHandle> {
  const handle = await open("/dev/null");
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}

function nameOf(fd: number): string {
  return path.basename(fs.readlinkSync(`/proc/self/fd/${fd}`));
}
