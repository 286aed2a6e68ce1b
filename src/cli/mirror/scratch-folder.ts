import { rm } from "node:fs/promises";
import path from "node:path";
import { makeFolders } from "../../base/files/atomic-file.ts";
import { guardedFile } from "../../base/files/hashed-file.ts";
import { takeWriterLock } from "../../store/writer-lock.ts";
import type { CompanyScope } from "./company-scope.ts";

/**
 * Runs `work` with a folder of its own beside the mirror, for files that are made to be used elsewhere. It is gone
 * afterwards; what a killed process left goes with the next run.
 *
 * @throws MirrorError `locked` while another process works in it; `database`: it cannot be used; what `work` throws
 */
export async function withScratchFolder<T>(
  { config, company }: Pick<CompanyScope, "config" | "company">,
  /** Each use has a folder of its own. */
  use: "package" | "upload" | "as-of" | "own-copy",
  work: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = path.join(config.dataDir, `.${company.name}.${use}`);
  const files = path.join(folder, "files");
  await guardedFile(folder, async () => makeFolders(folder));
  using _ = takeWriterLock(path.join(folder, "lock"), use, `the folder ${folder}`);
  try {
    await rm(files, { recursive: true, force: true });
    return await work(files);
  } finally {
    // With the lock still held: another process may take the folder as soon as it is free.
    await rm(folder, { recursive: true, force: true });
  }
}
