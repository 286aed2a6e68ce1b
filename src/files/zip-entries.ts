import { crc32 } from "node:zlib";
import yauzl from "yauzl";
import type { Entry, ZipFile } from "yauzl";

/** A file of a ZIP archive. Its name is data: never a path. */
export interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
}

/** The archive cannot be used. */
export class ZipError extends Error {}

/** What one archive may hold, and how much more that may be than its bytes. */
const mostEntries = 1_000;
const mostBytes = 200_000_000;
const mostRatio = 200;
/** Texts of zeros are that small, and harmless. */
const ratioFromBytes = 1_000_000;

/**
 * Reads a ZIP archive into memory. Refuses what is damaged or encrypted, and what would fill memory: by the sizes that
 * it declares, before anything is inflated, and what is inflated is never more than that.
 *
 * @throws ZipError
 */
export async function readZip(archive: Buffer): Promise<ZipEntry[]> {
  try {
    const zip = await yauzl.fromBufferPromise(archive, { decodeStrings: false, validateEntrySizes: true });
    return await readEntries(zip);
  } catch (error) {
    if (error instanceof ZipError) throw error;
    throw new ZipError(error instanceof Error ? error.message : "it cannot be read");
  }
}

async function readEntries(zip: ZipFile): Promise<ZipEntry[]> {
  const files: ZipEntry[] = [];
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    const name = yauzl.getFileNameLowLevel(
      entry.generalPurposeBitFlag,
      entry.fileNameRaw,
      entry.extraFields,
      false,
    );
    if (/[/\\]$/.test(name)) continue;
    bytes += entry.uncompressedSize;
    assertHarmless(entry, files.length + 1, bytes);
    files.push({ name, content: await contentOf(zip, entry) });
  }
  return files;
}

function assertHarmless(entry: Entry, count: number, bytes: number): void {
  const { compressedSize, uncompressedSize } = entry;
  if (count > mostEntries) throw new ZipError(`it has more than ${mostEntries} files`);
  if (bytes > mostBytes) throw new ZipError(`its files are larger than ${mostBytes} bytes`);
  if (uncompressedSize > ratioFromBytes && uncompressedSize > compressedSize * mostRatio)
    throw new ZipError(`a file is more than ${mostRatio} times as large as its compressed bytes`);
  if (entry.isEncrypted()) throw new ZipError("it is encrypted");
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of await zip.openReadStreamPromise(entry)) parts.push(part as Buffer);
  const content = Buffer.concat(parts);
  if (crc32(content) !== entry.crc32) throw new ZipError("a checksum is wrong");
  return content;
}
