import { hash } from "node:crypto";
import { copyFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { hashOf } from "../../src/base/files/hashed-file.ts";
import { FileArchive, manifestName } from "../../src/files/archive.ts";
import { checkArchive } from "../../src/files/check-archive.ts";
import { contentsAddress, readFile, storeFiles } from "../../src/files/published-files.ts";
import { folderStore } from "../../src/file-store/folder-store.ts";
import { openStore } from "../../src/file-store/open-store.ts";
import { StoredFiles, type DocumentFile } from "../../src/state/files/stored-files.ts";
import { readArchivePosition } from "../../src/state/meta.ts";
import { aFileStore, aRight, type StoreKind } from "../support/file-store.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { tempFolder } from "../support/temporary-folder.ts";

const { signal } = new AbortController();

/** The archive of a company: in its folder alone, or in a store that several machines share. */
async function anArchive(kind: "alone" | StoreKind) {
  const stored = kind === "alone" ? null : await aFileStore(kind);
  const { db } = await openHasty();
  const surroundings = { clock: systemClock, env: stored?.env ?? {}, onSecrets: () => undefined };
  const contents = stored && openStore(contentsAddress(stored.address, "acme"), surroundings);
  const files = new StoredFiles(db);
  let folder = tempFolder();
  const hashIn = async (file: DocumentFile) =>
    (await hashOf(readFile(folder, contents, file, signal))).sha256;
  return {
    /** Stores the PDF of a document, for this state of its record. */
    put: (id: number, text: string) => {
      const archive = FileArchive.open(folder, db, systemClock, stored === null);
      return archive.withDraft("answer", async (draft) => {
        const file = path.join(draft, "answer");
        writeFileSync(file, text);
        const read = { ref: { resource: "invoices", id }, recordSha: text, readAtMs: 0, problem: null };
        const placed = () => `2026/10/invoices/${id}.pdf`;
        archive.store(read, "pdf", [{ file, placed, ...(await hashOf(file)) }]);
      });
    },
    /** Goes on on another machine; alone, after a restart. Gives what is left of contents on the first one. */
    move: async () => {
      const before = folder;
      if (!stored) return [];
      folder = tempFolder();
      await storeFiles(stored.store, "acme", before, readArchivePosition(db), "acme/manifest", aRight());
      copyFileSync(path.join(before, manifestName), path.join(folder, manifestName));
      return folderStore(before).list("objects/", signal);
    },
    hashes: () => Promise.all(files.all().map(hashIn)),
    check: () => {
      const mirror = { position: readArchivePosition(db), files: files.all() };
      return checkArchive({ folder, store: contents, mirror, signal, onProgress: () => undefined });
    },
  };
}

test.each(["alone", "folder", "s3"] as const)(
  "a company's files are read back with all older versions and one chain, whoever goes on: %s",
  async (kind) => {
    const archive = await anArchive(kind);
    await archive.put(1, "first");
    await archive.put(2, "other");
    expect(await archive.hashes()).toEqual(["first", "other"].map((text) => hash("sha256", text)));
    expect(await archive.move()).toEqual([]);
    await archive.put(1, "second");
    const hashes = ["second", "other"].map((text) => hash("sha256", text));
    expect(await archive.hashes()).toEqual(hashes);
    expect(await archive.move()).toEqual([]);
    expect(await archive.hashes()).toEqual(hashes);
    expect(await archive.check()).toMatchObject({ match: true, files: 2, contents: 3, lines: 3 });
  },
);

test("an answer without a file leaves no manifest, and nothing of it is stored", async () => {
  const { store } = await aFileStore("folder");
  const { db } = await openHasty();
  const folder = tempFolder();
  const read = { ref: { resource: "invoices", id: 1 }, recordSha: "a", readAtMs: 0, problem: null };
  FileArchive.open(folder, db, systemClock, false).store(read, "attachment", []);
  const stored = storeFiles(store, "acme", folder, readArchivePosition(db), "acme/manifest", aRight());
  expect(await stored).toBe(null);
});
