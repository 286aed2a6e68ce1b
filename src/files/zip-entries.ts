import { crc32 } from "node:zlib";
import yauzl from "yauzl";
import type { Entry, ZipFile } from "yauzl";
import { MirrorError } from "../base/errors.ts";
import { writeNewFile, type ContentFacts } from "../base/files/hashed-file.ts";
import { databaseError } from "../store/database.ts";

/** A file of a ZIP archive. Its name is data: never a path. */
interface ZipEntry extends ContentFacts {
  readonly name: string;
  readonly file: string;
}

/** What a record's files came as cannot be used. */
export class UnusableAnswer extends Error {}

const unusable = (why: string) => new UnusableAnswer(`the ZIP archive cannot be used: ${why}`);

/** What one archive may hold, and how much more that may be than its bytes. */
const mostEntries = 1_000;
const mostBytes = 200_000_000;
const mostRatio = 200;
/** Texts of zeros are that small, and harmless. */
const ratioFromBytes = 1_000_000;

/**
 * Writes the files of a ZIP archive beside it, piece by piece: `<archive>.1` and so on. Refuses what is damaged or
 * encrypted, and what would fill the disk: by the sizes that it declares, before anything is inflated, and what is
 * inflated is never more than that.
 *
 * @throws UnusableAnswer; MirrorError `database` where the disk fails
 */
export async function readZip(archive: string): Promise<ZipEntry[]> {
  const options = { autoClose: false, decodeStrings: false, validateEntrySizes: true };
  let zip: ZipFile | null = null;
  try {
    zip = await yauzl.openPromise(archive, options);
    return await readEntries(zip, archive);
  } catch (error) {
    if (error instanceof UnusableAnswer || error instanceof MirrorError) throw error;
    if (error instanceof Error && "syscall" in error) throw databaseError(archive, error);
    throw unusable(error instanceof Error ? error.message : "it cannot be read");
  } finally {
    zip?.close();
  }
}

async function readEntries(zip: ZipFile, archive: string): Promise<ZipEntry[]> {
  const files: ZipEntry[] = [];
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    const { generalPurposeBitFlag: flags, fileNameRaw, extraFields } = entry;
    const name = yauzl.getFileNameLowLevel(flags, fileNameRaw, extraFields, false);
    if (/[/\\]$/.test(name)) continue;
    bytes += entry.uncompressedSize;
    assertHarmless(entry, files.length + 1, bytes);
    const file = `${archive}.${files.length + 1}`;
    files.push({ name, file, ...(await writeContent(zip, entry, file)) });
  }
  return files;
}

function assertHarmless(entry: Entry, count: number, bytes: number): void {
  const { compressedSize, uncompressedSize } = entry;
  if (count > mostEntries) throw unusable(`it has more than ${mostEntries} files`);
  if (bytes > mostBytes) throw unusable(`its files are larger than ${mostBytes} bytes`);
  if (uncompressedSize > ratioFromBytes && uncompressedSize > compressedSize * mostRatio)
    throw unusable(`a file is more than ${mostRatio} times as large as its compressed bytes`);
  if (entry.isEncrypted()) throw unusable("it is encrypted");
}

async function writeContent(zip: ZipFile, entry: Entry, file: string): Promise<ContentFacts> {
  let checksum = 0;
  const content = async function* () {
    for await (const part of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      checksum = crc32(part, checksum);
      yield part;
    }
  };
  const facts = await writeNewFile(file, content(), 0o600);
  if (checksum !== entry.crc32) throw unusable("a checksum is wrong");
  return facts;
}
