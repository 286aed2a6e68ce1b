import { createHash } from "node:crypto";
import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { guardedFile } from "./file-error.ts";

/** A finished file. */
export interface WrittenFile {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Creates a file and its folders. When it returns, the content is on the disk; after an error the file is
 * incomplete and closed.
 *
 * @throws MirrorError `database`, or what `content` throws
 */
export function writeNewFile(path: string, content: AsyncIterable<Uint8Array>): Promise<WrittenFile> {
  return guardedFile(path, async () => {
    await mkdir(dirname(path), { recursive: true });
    const handle = await open(path, "w");
    const hash = createHash("sha256");
    let bytes = 0;
    try {
      for await (const part of content) {
        const written = handle.writeFile(part);
        hash.update(part);
        await written;
        bytes += part.length;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
    return { bytes, sha256: hash.digest("hex") };
  });
}
