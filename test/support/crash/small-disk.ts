import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";

function mount(folder: string, bytes: number): boolean {
  return spawnSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", folder]).status === 0;
}

/** May this user mount one? In most places only root may. */
export function canMount(): boolean {
  const folder = mkdtempSync(path.join(tmpdir(), "fintoro-mirror-disk-"));
  const isMounted = mount(folder, 65_536);
  if (isMounted) spawnSync("umount", [folder]);
  rmSync(folder, { recursive: true });
  return isMounted;
}

/** A file system of its own that holds little; gone with the test. */
export function aSmallDisk(bytes: number) {
  const folder = mkdtempSync(path.join(tmpdir(), "fintoro-mirror-disk-"));
  if (!mount(folder, bytes)) throw new Error(`nothing can be mounted at ${folder}`);
  onTestFinished(() => {
    spawnSync("umount", ["--lazy", folder]);
    rmSync(folder, { recursive: true });
  });
  const filler = path.join(folder, "filler");
  return {
    folder,
    fill: (leftBytes: number) => {
      const { bavail, bsize } = statfsSync(folder);
      try {
        writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
      } catch (error) {
        // The program took some of it meanwhile.
        if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      }
    },
    clear: () => rmSync(filler, { force: true }),
    /** As a disk is mounted after a fault. */
    forbidWrites: () => void spawnSync("mount", ["-o", "remount,ro", folder]),
  };
}
