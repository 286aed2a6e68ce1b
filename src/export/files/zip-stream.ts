import { constants, crc32, deflateRawSync } from "node:zlib";
import { Zip, type ZipInputFile } from "fflate";
import { MirrorError } from "../../base/errors.ts";
import { freeBytes } from "../columns/cells.ts";

/** The earliest time that a ZIP can hold, in every time zone: the same content gives the same bytes. */
const noTime = new Date(1980, 0, 1);
/** Beyond it a ZIP needs 64-bit sizes, which the library does not write. */
const maxBytes = 0xffff_ffff;
/** Of all but PDFs, whose parts are packed already. */
const level = 6;

/**
 * Writes a ZIP archive as it is read: entries one after another, in memory only what was not asked for yet. The memory of
 * what is yielded is freed when the next part is asked for. The same
 * entries give the same bytes, because no entry has a time.
 */
export class ZipStream {
  readonly #zip: Zip;
  #ready: Uint8Array[] = [];
  #sizeBytes = 0;

  constructor() {
    this.#zip = new Zip((error, bytes) => {
      if (error) throw error;
      this.#ready.push(bytes);
    });
  }

  /** Yields the bytes of an entry. @throws MirrorError `usage` when it or the archive exceeds 4 GB */
  async *entry(name: string, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) {
    const file: ZipInputFile = { filename: name, size: 0, crc: 0, compression: 8, mtime: noTime };
    this.#zip.add(file);
    for await (const bytes of content) {
      if (file.size + bytes.length > maxBytes) throw tooLarge(name);
      push(file, bytes);
      yield* this.#take(name);
    }
    push(file, new Uint8Array(0), true);
    yield* this.#take(name);
  }

  /** Yields what stands behind the last entry. */
  *end(): Generator<Uint8Array> {
    this.#zip.end();
    yield* this.#take("the archive");
  }

  *#take(name: string): Generator<Uint8Array> {
    for (const bytes of this.#ready.splice(0)) {
      this.#sizeBytes += bytes.length;
      if (this.#sizeBytes > maxBytes) throw tooLarge(name);
      yield bytes;
      freeBytes(bytes);
    }
  }
}

/**
 * Adds bytes to an entry, packed by Node's own zlib: the library takes several times as long. Each part is packed for itself and
 * ends at a whole byte, so that one after another they are one stream.
 */
function push(file: ZipInputFile, bytes: Uint8Array, isLast = false): void {
  file.size += bytes.length;
  file.crc = crc32(bytes, file.crc);
  const packing = file.filename.endsWith(".pdf") ? 0 : level;
  const finishFlush = isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH;
  const chunkSize = bytes.length + 1_024;
  file.ondata?.(null, deflateRawSync(bytes, { level: packing, finishFlush, chunkSize }), isLast);
}

function tooLarge(name: string): MirrorError {
  return new MirrorError("usage", `a ZIP archive holds at most 4 GB: it is exceeded at ${name}`, {
    hint: "Choose fewer tables or a shorter period.",
  });
}
