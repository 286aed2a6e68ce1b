import { crc32 } from "node:zlib";

export interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
  readonly atMs: number;
}

/** A ZIP archive of stored entries with UTF-8 names. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name, "utf8");
    const facts = factsOf(entry, name);
    const local = Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), facts, name, entry.content]);
    directory.push(directoryEntry(facts, name, offset));
    locals.push(local);
    offset += local.length;
  }
  const listing = Buffer.concat(directory);
  return Buffer.concat([...locals, listing, endRecord(entries.length, listing.length, offset)]);
}

/** What local header and directory share: version, flags, method, time, sizes, name length. */
function factsOf({ content, atMs }: ZipEntry, name: Buffer): Buffer {
  const facts = Buffer.alloc(26);
  const at = new Date(atMs);
  facts.writeUInt16LE(20, 0);
  facts.writeUInt16LE(0x0800, 2);
  facts.writeUInt16LE((at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1), 6);
  facts.writeUInt16LE(
    ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
    8,
  );
  facts.writeUInt32LE(crc32(content), 10);
  facts.writeUInt32LE(content.length, 14);
  facts.writeUInt32LE(content.length, 18);
  facts.writeUInt16LE(name.length, 22);
  return facts;
}

function directoryEntry(facts: Buffer, name: Buffer, offset: number): Buffer {
  const tail = Buffer.alloc(14);
  tail.writeUInt32LE(offset, 10);
  return Buffer.concat([Buffer.from([0x50, 0x4b, 1, 2, 20, 0]), facts, tail, name]);
}

function endRecord(count: number, size: number, offset: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}
