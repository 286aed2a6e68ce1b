import { crc32 } from "node:zlib";

interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
  readonly atMs: number;
}

/** A ZIP archive of uncompressed entries with UTF-8 names. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name, "utf8");
    const facts = factsOf(entry, name.length);
    const file = Buffer.concat([Buffer.from("PK\u0003\u0004"), facts, name, entry.content]);
    const tail = littleEndian([0, 2], [0, 2], [0, 2], [0, 4], [offset, 4]);
    directory.push(Buffer.from("PK\u0001\u0002\u0014\u0000"), facts, tail, name);
    files.push(file);
    offset += file.length;
  }
  const listing = Buffer.concat(directory);
  const count = entries.length;
  const end = littleEndian([0, 4], [count, 2], [count, 2], [listing.length, 4], [offset, 4], [0, 2]);
  return Buffer.concat([...files, listing, Buffer.from("PK\u0005\u0006"), end]);
}

/** What an entry's header and its directory line share: version, flags, method, time, date, sizes, lengths. */
function factsOf({ content, atMs }: ZipEntry, nameLength: number): Buffer {
  const at = new Date(atMs);
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  const size = [content.length, 4] as const;
  const head = littleEndian([20, 2], [0x0800, 2], [0, 2], [time, 2], [date, 2], [crc32(content), 4]);
  return Buffer.concat([head, littleEndian(size, size, [nameLength, 2], [0, 2])]);
}

function littleEndian(...fields: readonly (readonly [value: number, bytes: 2 | 4])[]): Buffer {
  const buffers = fields.map(([value, bytes]) => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeUIntLE(value, 0, bytes);
    return buffer;
  });
  return Buffer.concat(buffers);
}
