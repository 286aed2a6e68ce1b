import { crc32, inflateRawSync } from "node:zlib";

/** What a ZIP archive holds, by its central directory; every entry's checksum is looked at. */
export function entriesOf(archive: Buffer) {
  const end = archive.lastIndexOf(Buffer.from("PK\u0005\u0006"));
  if (end < 0) throw new Error("no ZIP archive: it has no end record");
  const entries: { readonly name: string; readonly text: string }[] = [];
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left--) {
    const nameLength = archive.readUInt16LE(at + 28);
    const name = archive.toString("utf8", at + 46, at + 46 + nameLength);
    entries.push({ name, text: contentAt(archive, at, name).toString("utf8") });
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

/** `at` is the entry in the directory; its bytes stand behind its own header. */
function contentAt(archive: Buffer, at: number, name: string): Buffer {
  const local = archive.readUInt32LE(at + 42);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const bytes = archive.subarray(start, start + archive.readUInt32LE(at + 20));
  const content = archive.readUInt16LE(at + 10) === 0 ? bytes : inflateRawSync(bytes);
  if (crc32(content) !== archive.readUInt32LE(at + 16)) throw new Error(`${name}: the checksum is wrong`);
  return content;
}
