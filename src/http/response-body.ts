import type { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { createGrowingBuffer } from "./byte-buffer.ts";
import { parseWholeNumber, type AnswerHeaders } from "./headers.ts";
import { inflaterFor } from "./inflate.ts";

export interface BodyCaps {
  /** As it comes over the wire. */
  readonly wireBytes: number;
  /** As it is after inflating. */
  readonly bytes: number;
}

/** The answer's bytes are not what they should be. Anything else that goes wrong is the network's. */
export class BodyError extends Error {
  readonly fault: "too_large" | "encoding";

  constructor(fault: "too_large" | "encoding", message: string) {
    super(message);
    this.fault = fault;
  }
}

/** What broke the connection in the middle of a body, told apart from what broke the inflating. */
class WireError extends Error {}

/**
 * Reads a body into one buffer, inflated, never holding more than its size. A body that says or turns
 * out to be too large is left at once; a small body that inflates without end stops at the cap.
 */
export async function readResponseBody(
  body: Readable,
  headers: AnswerHeaders,
  caps: BodyCaps,
): Promise<Buffer> {
  try {
    const encoding = (headers["content-encoding"] ?? "").trim().toLowerCase();
    const plain = encoding === "" || encoding === "identity";
    const sizeBytes = parseWholeNumber(headers["content-length"]);
    const cap = plain ? Math.min(caps.bytes, caps.wireBytes) : caps.wireBytes;
    if (sizeBytes !== null && sizeBytes > cap) throw tooLarge(cap);
    return plain ? await collect(body, cap, sizeBytes) : await inflated(body, encoding, caps);
  } catch (error) {
    discardBody(body);
    throw error instanceof WireError ? error.cause : error;
  }
}

/** Lets go of an answer that nobody reads; its connection is closed. */
export function discardBody(body: Readable): void {
  body.on("error", () => undefined);
  body.destroy();
}

async function inflated(body: Readable, encoding: string, caps: BodyCaps): Promise<Buffer> {
  const inflater = inflaterFor(encoding);
  if (!inflater)
    throw new BodyError("encoding", `the content encoding ${JSON.stringify(encoding)} is not known`);
  const wire = { bytes: 0 };
  const stream = pipeline(
    body,
    (source) => metered(source, caps.wireBytes, wire),
    inflater,
    () => undefined,
  );
  try {
    return await collect(stream, caps.bytes, null);
  } catch (error) {
    if (error instanceof BodyError || error instanceof WireError) throw error;
    // An answer without content may still name an encoding.
    if (wire.bytes === 0) return Buffer.alloc(0);
    throw new BodyError("encoding", `the ${encoding} content is broken`);
  }
}

async function* metered(
  source: AsyncIterable<Buffer>,
  capBytes: number,
  wire: { bytes: number },
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of source) {
      wire.bytes += chunk.length;
      if (wire.bytes > capBytes) throw tooLarge(capBytes);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof BodyError ? error : new WireError("the wire broke", { cause: error });
  }
}

async function collect(
  source: AsyncIterable<Buffer>,
  capBytes: number,
  sizeBytes: number | null,
): Promise<Buffer> {
  const buffer = createGrowingBuffer(capBytes, sizeBytes);
  for await (const chunk of source) if (!buffer.add(chunk)) throw tooLarge(capBytes);
  return buffer.whole();
}

function tooLarge(capBytes: number): BodyError {
  return new BodyError("too_large", `the answer is larger than ${capBytes} bytes`);
}
