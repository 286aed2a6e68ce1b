import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { parseWholeNumber, type AnswerHeaders } from "./headers.ts";

/** The largest body that is read. */
export interface BodyCaps {
  /** As it comes over the wire. */
  readonly wireBytes: number;
  /** After decompression. */
  readonly bytes: number;
}

/** The bytes of an answer are wrong. Any other error while reading is the network's. */
export class BodyError extends Error {
  readonly fault: "too_large" | "encoding";

  constructor(fault: "too_large" | "encoding", message: string) {
    super(message);
    this.fault = fault;
  }
}

/**
 * Reads a body into one buffer, decompressed. Stops as soon as it announces or reaches more than the caps.
 * Throws BodyError, or the error of the connection.
 */
export async function readResponseBody(
  body: Readable,
  headers: AnswerHeaders,
  caps: BodyCaps,
): Promise<Buffer> {
  try {
    const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
    const isPlain = encoding === "" || encoding === "identity";
    const sizeBytes = parseWholeNumber(headers["content-length"]);
    const capBytes = isPlain ? Math.min(caps.bytes, caps.wireBytes) : caps.wireBytes;
    if (sizeBytes !== null && sizeBytes > capBytes) throw tooLarge(capBytes);
    return isPlain ? await collect(body, capBytes, sizeBytes) : await decompressed(body, encoding, caps);
  } catch (error) {
    discardBody(body);
    throw error;
  }
}

/** Closes the connection of an answer that nobody reads. */
export function discardBody(body: Readable): void {
  body.on("error", () => undefined);
  body.destroy();
}

async function decompressed(body: Readable, encoding: string, caps: BodyCaps): Promise<Buffer> {
  const decompressor = decompressorFor(encoding);
  if (!decompressor)
    throw new BodyError("encoding", `the content encoding ${JSON.stringify(encoding)} is not known`);
  let wireBytes = 0;
  // What broke the connection, to distinguish it from broken compression.
  let wireError: unknown = null;
  const counted = async function* (source: AsyncIterable<Buffer>) {
    try {
      for await (const chunk of source) {
        wireBytes += chunk.length;
        if (wireBytes > caps.wireBytes) throw tooLarge(caps.wireBytes);
        yield chunk;
      }
    } catch (error) {
      wireError = error;
      throw error;
    }
  };
  try {
    const stream = pipeline(body, counted, decompressor, () => undefined);
    return await collect(stream, caps.bytes, null);
  } catch (error) {
    if (error instanceof BodyError || error === wireError) throw error;
    // An empty answer may still name an encoding.
    if (wireBytes === 0) return Buffer.alloc(0);
    throw new BodyError("encoding", `the ${encoding} content is broken`);
  }
}

function decompressorFor(encoding: string): Transform | null {
  if (encoding === "gzip" || encoding === "x-gzip") return createGunzip();
  if (encoding === "deflate") return createInflate();
  if (encoding === "br") return createBrotliDecompress();
  return null;
}

const firstBytes = 65_536;
const growth = 16;
/** A smaller result is copied, so that it does not keep a large block alive. */
const copyBelowBytes = 1_048_576;

/**
 * Collects into one block that grows in few large steps. Memory that is reserved but not written to is not used,
 * so the peak stays near the size of the content.
 */
async function collect(
  source: AsyncIterable<Buffer>,
  capBytes: number,
  sizeBytes: number | null,
): Promise<Buffer> {
  let block: Buffer = Buffer.allocUnsafeSlow(sizeBytes ?? Math.min(firstBytes, capBytes));
  let used = 0;
  for await (const chunk of source) {
    const needed = used + chunk.length;
    if (needed > capBytes) throw tooLarge(capBytes);
    if (needed > block.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(capBytes, Math.max(needed, block.length * growth)));
      block.copy(larger, 0, 0, used);
      block = larger;
    }
    block.set(chunk, used);
    used = needed;
  }
  if (used === block.length) return block;
  const content = block.subarray(0, used);
  return used < copyBelowBytes ? Buffer.from(content) : content;
}

function tooLarge(capBytes: number): BodyError {
  return new BodyError("too_large", `the answer is larger than ${capBytes} bytes`);
}
