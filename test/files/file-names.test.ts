import path from "node:path";
import { array, assert, constantFrom, oneof, option, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { archivePath, pathKey, safeFileName } from "../../src/files/file-names.ts";

const hostile = oneof(
  string({ unit: "binary", maxLength: 300 }),
  string({ unit: "grapheme", maxLength: 300 }),
  constantFrom(
    "../../etc/passwd",
    "/etc/passwd",
    "..\\..\\windows",
    "C:\\x",
    "CON",
    "nul.txt",
    "com¹.pdf",
    "aux ",
    "...",
    "-rf",
    "a\u0000b",
    "a\u202egpj.exe",
    "a\nb",
    " ",
    "",
    "\ud800",
    "e\u0301".repeat(200),
    "👨‍👩‍👧".repeat(90),
    "x".repeat(400),
    ".hidden",
    "name.",
    "a:b",
    "file.pdf:stream",
  ),
);

/** No system takes it for anything but a name, and none hides, cuts or changes it. */
function expectSafe(name: string): void {
  expect(name).not.toBe("");
  expect(Buffer.byteLength(name)).toBeLessThanOrEqual(200);
  expect(name).not.toMatch(/[/\\:<>"|?*]|[\p{C}\p{Zl}\p{Zp}]/u);
  expect(name).not.toMatch(/^[. -]|[. ]$/);
  expect(name).not.toMatch(/^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i);
  expect(name.isWellFormed()).toBe(true);
  expect(name.normalize("NFC")).toBe(name);
}

describe("a file's name", () => {
  it("is safe on every system, whatever text it is made of", () => {
    const suffix = constantFrom("", " [7]", " [7] (2)");
    assert(
      property(hostile, suffix, (text, behind) => {
        expectSafe(safeFileName(text, ".pdf", behind));
        expect(safeFileName(text, ".pdf", behind).slice(-`${behind}.pdf`.length)).toBe(`${behind}.pdf`);
        expectSafe(safeFileName(text));
      }),
    );
  });

  it("keeps what people read", () => {
    expect(safeFileName("2026063 Servis s. r. o.", ".pdf")).toBe("2026063 Servis s. r. o..pdf");
    expect(safeFileName("2026/063", ".pdf")).toBe("2026-063.pdf");
    expect(safeFileName("  Müller  &\tSöhne ", ".pdf")).toBe("Müller & Söhne.pdf");
  });
});

const document = { document: "invoices", id: 7, date: "2026-10-05", words: ["2026063", "Servis s. r. o."] };

describe("a file's place", () => {
  it("is by month and table; where it is another file's, the id is added", () => {
    const taken = new Set<string>();
    const placed = () => {
      const place = archivePath({ ...document, ownName: null }, ".pdf", (each) => taken.has(each));
      taken.add(place);
      return place;
    };
    expect([placed(), placed(), placed()]).toEqual([
      "2026/10/invoices/2026063 Servis s. r. o..pdf",
      "2026/10/invoices/2026063 Servis s. r. o. [7].pdf",
      "2026/10/invoices/2026063 Servis s. r. o. [7] (2).pdf",
    ]);
  });

  it("is within the folder, whatever the record and the file are called", () => {
    const text = option(hostile);
    assert(
      property(text, array(text, { maxLength: 3 }), text, (date, words, ownName) => {
        const place = archivePath({ document: "notes", id: 7, date, words, ownName }, ".pdf", () => false);
        expect(place).toMatch(/^(?:\d{4}\/\d\d|undated)\/notes\/[^/]+$/);
        expectSafe(path.posix.basename(place));
      }),
    );
  });

  it("of an attachment keeps its own ending", () => {
    const place = archivePath({ ...document, words: [], ownName: "ponuka (final).csv" }, ".pdf", () => false);
    expect(place).toBe("2026/10/invoices/7 ponuka (final).csv");
  });

  it("has a key that is equal where some file system sees one name", () => {
    expect(pathKey("A/Čaj.PDF")).toBe(pathKey("a/c\u030caj.pdf"));
  });
});
