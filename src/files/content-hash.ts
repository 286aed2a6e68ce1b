import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import path from "node:path";
import type { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { makeFolders } from "../base/atomic-file.ts";

/** What identifies the bytes of a file. */
export interface ContentFacts {
  readonly size_bytes: number;
  readonly sha256: string;
}

const noContent: ContentFacts = { size_bytes: 0, sha256: "" };

/** Writes a new file. Gives what came. */
export async function writeHashed(source: AsyncIterable<Uint8Array>, target: string): Promise<ContentFacts> {
  let facts = noContent;
  await pipeline(
    hashing(source, (found) => (facts = found)),
    openTarget(target),
  );
  return facts;
}

/** Writes what `transform` makes of a source to a new file. Gives what was read, and what was written. */
export async function writeTransformed(
  source: AsyncIterable<Uint8Array>,
  transform: Transform,
  target: string,
): Promise<{ readonly read: ContentFacts; readonly written: ContentFacts }> {
  let [read, written] = [noContent, noContent];
  await pipeline(
    hashing(source, (found) => (read = found)),
    transform,
    (made: AsyncIterable<Uint8Array>) => hashing(made, (found) => (written = found)),
    openTarget(target),
  );
  return { read, written };
}

/** Reads everything. */
export async function hashOf(source: AsyncIterable<Uint8Array>): Promise<ContentFacts> {
  let facts = noContent;
  for await (const _ of hashing(source, (found) => (facts = found)));
  return facts;
}

function openTarget(target: string) {
  makeFolders(path.dirname(target));
  return createWriteStream(target, { mode: 0o600 });
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
