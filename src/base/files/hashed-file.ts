import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { isListOf, makeFolders } from "./atomic-file.ts";
import { firstThrown, MirrorError, systemProblem, valueOr } from "../errors.ts";

/** Runs `step`. What the file system refuses becomes a MirrorError `database` with a hint, and with what else is true then. */
export async function guardedFile<T>(path: string, step: () => Promise<T>, also = ""): Promise<T> {
  try {
    return await step();
  } catch (thrown) {
    const error = firstThrown(thrown);
    const problem = systemProblem(error);
    if (!problem) throw error;
    // A file that cannot be moved is refused because of its new place.
    const place = error instanceof Error && "dest" in error ? String(error.dest) : path;
    const hint = `${problem.hint}${also}`;
    throw new MirrorError("database", `${problem.reason}: ${place}`, { hint, retryable: true, cause: error });
  }
}

export type ContentFacts = Awaited<ReturnType<typeof hashOf>>;

/**
 * Creates a file and its folders. When it returns, the content is on the disk; after an error the file is
 * incomplete and closed. A part is written and hashed before the next one is asked for.
 *
 * @throws MirrorError `database`, or what `content` throws
 */
export function writeNewFile(
  path: string,
  content: AsyncIterable<Uint8Array>,
  mode = 0o666,
): Promise<ContentFacts> {
  const write = async () => {
    makeFolders(dirname(path));
    await using handle = await open(path, "w", mode);
    const facts = await hashOf(content, (part) => handle.writeFile(part));
    await handle.sync();
    return facts;
  };
  return guardedFile(path, write, " The earlier files are unchanged.");
}

/** Reads a file, or what comes, to its end. @param use works with each part at the same time */
export async function hashOf(
  source: string | AsyncIterable<Uint8Array> | readonly Uint8Array[],
  use?: (part: Uint8Array) => Promise<void>,
) {
  const hash = createHash("sha256");
  let size_bytes = 0;
  for await (const part of typeof source === "string" ? partsOf(source) : source) {
    const used = use?.(part);
    hash.update(part);
    await used;
    size_bytes += part.length;
  }
  return { size_bytes, sha256: hash.digest("hex") };
}

/** Fewer turns than with the usual 64 kB. */
const readBytes = 256 * 1024;

export function partsOf(file: string): AsyncIterable<Uint8Array> {
  return createReadStream(file, { highWaterMark: readBytes });
}

export async function hasContent(file: string, sha256: string): Promise<boolean> {
  return existsSync(file) && (await hashOf(file)).sha256 === sha256;
}

/** A manifest of files as it is written: after all files that it names. */
export function manifestText(manifest: object): string {
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** The manifest in this text; null if it is none: each file has these texts. Its version may be another one's. */
export function parseManifest<M extends { readonly files: readonly object[] }>(
  text: string | null,
  texts: readonly (keyof M["files"][number] & string)[],
): Partial<M> | null {
  const manifest = valueOr(() => JSON.parse(text ?? "null") as Partial<M> | null, null);
  return isListOf(manifest?.files, texts) ? manifest : null;
}

/** Is the path within the manifest's folder? One from elsewhere must not name other files. */
export function isWithin(file: string): boolean {
  return !file.startsWith("/") && !file.includes("\\") && !file.split("/").includes("..");
}
