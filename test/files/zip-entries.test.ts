import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { zipOf } from "../../connectors/fintoro/sandbox/resources/record-files.ts";
import { readZip, UnusableAnswer } from "../../src/files/zip-entries.ts";
import { tempFolder } from "../support/temporary-folder.ts";

const atMs = Date.UTC(2026, 9, 5);
const entry = (name: string, text: string) => ({ name, content: Buffer.from(text), atMs });

function stored(archive: Buffer): string {
  const file = path.join(tempFolder(), "archive");
  writeFileSync(file, archive);
  return file;
}

/** One deflated entry that declares this size. */
function deflated(content: Buffer, declaredBytes: number): Buffer {
  const bytes = deflateRawSync(content);
  const archive = zipOf([{ name: "zeros.bin", content: bytes, atMs }]);
  const local = archive.indexOf("PK\u0003\u0004");
  const central = archive.indexOf("PK\u0001\u0002");
  for (const at of [local + 8, central + 10]) archive.writeUInt16LE(8, at);
  for (const at of [local + 14, central + 16]) archive.writeUInt32LE(crc32(content), at);
  for (const at of [local + 22, central + 24]) archive.writeUInt32LE(declaredBytes, at);
  return archive;
}

describe("a ZIP archive", () => {
  test("gives its files with their names, folders left out", async () => {
    const archive = zipOf([entry("a/", ""), entry("a/žltý.txt", "one"), entry("../../etc/passwd", "two")]);
    const found = await readZip(stored(archive));
    expect(found.map(({ name, file }) => [name, readFileSync(file, "utf8")])).toEqual([
      ["a/žltý.txt", "one"],
      ["../../etc/passwd", "two"],
    ]);
    const [plain] = await readZip(stored(deflated(Buffer.from("packed"), 6)));
    expect(readFileSync(plain?.file ?? "", "utf8")).toBe("packed");
  });

  // Fault: service | a ZIP archive is damaged, cut off, or far larger inside | the bytes of the answer | refused before the disk is filled
  test("is refused where it is damaged, or far larger inside than outside", async () => {
    const sound = zipOf([entry("a.txt", "some text")]);
    const altered = Buffer.from(sound);
    altered.write("SOME", sound.indexOf("some text"));
    const zeros = Buffer.alloc(5_000_000);
    const refused = [
      altered,
      sound.subarray(0, -10),
      Buffer.from("no archive"),
      deflated(zeros, zeros.length),
      deflated(zeros, 1_000),
      zipOf(Array.from({ length: 1_001 }, (_, i) => entry(`${i}.txt`, ""))),
    ];
    for (const archive of refused) await expect(readZip(stored(archive))).rejects.toThrow(UnusableAnswer);
  });
});
