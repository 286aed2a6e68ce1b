import { pipeline, type Readable, type Transform } from "node:stream";
import {
  brotliDecompressSync,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzipSync,
  inflateSync,
} from "node:zlib";
import { codeOf, MirrorError } from "../base/errors.ts";
import { writeNewFile } from "../base/files/hashed-file.ts";
import { parseWholeNumber, type AnswerHeaders } from "./headers.ts";

/** The bytes of an answer are wrong. Any other error while reading is the network's. */
export class BodyError extends Error {
  readonly fault: "too_large" | "encoding";

  constructor(fault: "too_large" | "encoding", message: string) {
    super(message);
    this.fault = fault;
  }
}

/**
 * Reads a body into one buffer, decompressed; or into a file, whatever was in it, and gives an empty buffer. Stops as soon
 * as it announces or reaches more than the cap. Throws BodyError, MirrorError `database` where the file cannot be
 * written, or the error of the connection.
 *
 * @param capBytes of the body as it comes over the wire, and of its content
 */
export async function readResponseBody(
  body: Readable,
  headers: AnswerHeaders,
  capBytes: number,
  into?: string,
): Promise<Buffer> {
  try {
    const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
    const isPlain = encoding === "" || encoding === "identity";
    const sizeBytes = parseWholeNumber(headers["content-length"]);
    if (sizeBytes !== null && sizeBytes > capBytes) throw tooLarge(capBytes);
    // Into a file piece by piece: a large one takes no memory.
    const write = async (source: BodySource, cap: number, file: string) => {
      await writeNewFile(file, capped(source, cap));
      return Buffer.alloc(0);
    };
    const take: Take = into === undefined ? collect : (source, cap) => write(source, cap, into);
    if (isPlain) return await take(body, capBytes, sizeBytes);
    return await decompressed(body, encoding, capBytes, take);
  } catch (error) {
    discardBody(body);
    throw error;
  }
}

type BodySource = AsyncIterable<Buffer> | Iterable<Buffer>;
/** Gets all bytes of a body. `sizeBytes`: how many there are; null: not known. */
type Take = (source: BodySource, capBytes: number, sizeBytes: number | null) => Promise<Buffer>;

export function discardBody(body: Readable): void {
  body.on("error", () => undefined);
  body.destroy();
}

interface Codec {
  readonly stream: () => Transform;
  readonly atOnce: (content: Buffer, options: { readonly maxOutputLength: number }) => Buffer;
}

const gzip: Codec = { stream: createGunzip, atOnce: gunzipSync };
const codecs: Readonly<Record<string, Codec>> = {
  gzip,
  "x-gzip": gzip,
  deflate: { stream: createInflate, atOnce: inflateSync },
  br: { stream: createBrotliDecompress, atOnce: brotliDecompressSync },
};

/** What comes in so few bytes is unpacked at once, if it is not longer than that: a stream costs five times as much. */
const mostAtOnce = { wireBytes: 32_768, bytes: 4 * 1_048_576 };

async function decompressed(body: Readable, encoding: string, capBytes: number, take: Take): Promise<Buffer> {
  const codec = Object.hasOwn(codecs, encoding) ? codecs[encoding] : undefined;
  if (!codec)
    throw new BodyError("encoding", `the content encoding ${JSON.stringify(encoding)} is not known`);
  // What broke the connection, to distinguish it from broken compression.
  let wireError: unknown = null;
  try {
    const wire = capped(body, capBytes, (error) => (wireError = error));
    const { chunks, sizeBytes, isWhole } = await readUpTo(wire, mostAtOnce.wireBytes);
    // An empty answer may still name an encoding.
    if (isWhole && sizeBytes === 0) return await take([], capBytes, 0);
    const isAtOnce = isWhole && take === collect;
    const content = isAtOnce ? unpackAtOnce(Buffer.concat(chunks), codec, capBytes) : null;
    if (content) return content;
    const all = async function* () {
      yield* chunks;
      yield* wire;
    };
    const stream = pipeline(all, codec.stream(), () => undefined);
    return await take(stream, capBytes, null);
  } catch (error) {
    if (error instanceof BodyError || error instanceof MirrorError || error === wireError) throw error;
    throw new BodyError("encoding", `the ${encoding} content is broken`);
  }
}

async function* capped(
  source: BodySource,
  capBytes: number,
  onBroken: (error: unknown) => void = () => undefined,
): AsyncGenerator<Buffer, void, undefined> {
  let wireBytes = 0;
  try {
    for await (const chunk of source) {
      wireBytes += chunk.length;
      if (wireBytes > capBytes) throw tooLarge(capBytes);
      yield chunk;
    }
  } catch (error) {
    onBroken(error);
    throw error;
  }
}

async function readUpTo(wire: AsyncIterator<Buffer, void>, mostBytes: number) {
  const chunks: Buffer[] = [];
  for (let sizeBytes = 0; ;) {
    const next = sizeBytes > mostBytes ? null : await wire.next();
    if (!next || next.done) return { chunks, sizeBytes, isWhole: next !== null };
    chunks.push(next.value);
    sizeBytes += next.value.length;
  }
}

/** Null: the content is too long for that. */
function unpackAtOnce(content: Buffer, codec: Codec, capBytes: number): Buffer | null {
  try {
    return codec.atOnce(content, { maxOutputLength: Math.min(capBytes, mostAtOnce.bytes) });
  } catch (error) {
    if (codeOf(error) === "ERR_BUFFER_TOO_LARGE") return null;
    throw error;
  }
}

const firstBytes = 65_536;
const growth = 16;
/** A smaller result is copied, so that it does not keep a large block alive. */
const copyBelowBytes = 1_048_576;

/**
 * Collects into one block that grows in few large steps. Memory that is reserved but not written to is not used,
 * so the peak stays near the size of the content.
 */
async function collect(source: BodySource, capBytes: number, sizeBytes: number | null): Promise<Buffer> {
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
