import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { makeFolders } from "../atomic-file.ts";
import { MirrorError } from "../errors.ts";

const knownErrors: readonly (readonly [RegExp, string, string])[] = [
  [
    /^(ENOSPC|EDQUOT|EFBIG)$/,
    "the disk is full",
    "Free some space and run it again; the earlier files are unchanged.",
  ],
  [/^(EACCES|EPERM|EROFS)$/, "the folder cannot be written", "Check the owner and mode of the folder."],
  [
    /^(ENOTDIR|EEXIST|EISDIR)$/,
    "something else stands where the files belong",
    "Move it away, or choose another folder.",
  ],
  [/^(EMFILE|ENFILE)$/, "too many files are open", "Raise the limit of open files (`ulimit -n`)."],
  [/^EIO$/, "the disk gave an input/output error", "Check the disk; the earlier files are unchanged."],
];

/** Runs `step`. What the file system refuses becomes a MirrorError `database` with a hint. */
export async function guardedFile<T>(path: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const found = knownErrors.find(([pattern]) => pattern.test(code));
    if (!found || error instanceof MirrorError) throw error;
    const [, what, hint] = found;
    throw new MirrorError("database", `${what}: ${path}`, { hint, retryable: true, cause: error });
  }
}

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
    makeFolders(dirname(path));
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

/** Is the file there, with the bytes of this hash? */
export async function hasContent(file: string, sha256: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex") === sha256;
}
