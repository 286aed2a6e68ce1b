import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { makeFolders } from "../base/atomic-file.ts";

/** What identifies the bytes of a file. */
export interface ContentFacts {
  readonly size_bytes: number;
  readonly sha256: string;
}

/** Writes a new file. Gives what came. */
export async function writeHashed(source: AsyncIterable<Uint8Array>, target: string): Promise<ContentFacts> {
  let facts = { size_bytes: 0, sha256: "" };
  makeFolders(path.dirname(target));
  const bytes = hashing(source, (found) => (facts = found));
  await pipeline(bytes, createWriteStream(target, { mode: 0o600 }));
  return facts;
}

/** Reads everything. */
export async function hashOf(source: AsyncIterable<Uint8Array>): Promise<ContentFacts> {
  let facts = { size_bytes: 0, sha256: "" };
  for await (const _ of hashing(source, (found) => (facts = found)));
  return facts;
}

/** Gives size and hash of what passes through. */
async function* hashing(
  source: AsyncIterable<Uint8Array>,
  onEnd: (facts: ContentFacts) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash("sha256");
  let size_bytes = 0;
  for await (const part of source) {
    hash.update(part);
    size_bytes += part.length;
    yield part;
  }
  onEnd({ size_bytes, sha256: hash.digest("hex") });
}
