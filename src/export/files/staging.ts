import { existsSync } from "node:fs";
import { readFile, rename, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { keepMode, makeFolders, syncToDisk, writeFileAtomically } from "../../base/files/atomic-file.ts";
import { MirrorError } from "../../base/errors.ts";
import { takeWriterLock } from "../../store/writer-lock.ts";
import { guardedFile, hasContent, parseManifest } from "../../base/files/hashed-file.ts";

/** What a commit does; paths are below the export's folder. */
interface CommitRecord {
  readonly files: readonly { readonly path: string; readonly sha256: string }[];
  readonly manifest: { readonly path: string; readonly text: string };
  readonly remove: readonly string[];
}

/**
 * Where the files of one run are written until all are complete.
 *
 * Guarantee: earlier files stay untouched until every new file is on the disk. Then `commit` writes a record
 * of what to do and moves the files into place, one rename each, the manifest last. The record stays until all of it
 * is done, also where a step fails.
 * Source of truth: the mirror; an export can be repeated at any time.
 * Worst outcome of a crash: some files are new and some old, each of them complete, until the next run
 * finishes what the record says. Where that cannot be done any more, the earlier manifest goes: it would name others.
 */
export class Staging {
  readonly #out: string;
  readonly #folder: string;
  readonly #files: string;
  readonly #record: string;
  readonly #lock: ReturnType<typeof takeWriterLock>;

  private constructor(out: string, folder: string) {
    this.#out = out;
    this.#folder = folder;
    this.#files = path.join(folder, "files");
    this.#record = path.join(folder, "record.json");
    this.#lock = takeWriterLock(path.join(folder, "lock"), "export", `the folder ${out}`);
  }

  /**
   * Locks a company's folder and finishes or clears what an earlier run left.
   *
   * @throws MirrorError `locked`: another export writes there; `database`: the folder cannot be used
   */
  static open(out: string, company: string): Promise<Staging> {
    return guardedFile(out, async () => {
      const folder = path.join(out, `.${company}.export`);
      makeFolders(folder);
      const staging = new Staging(out, folder);
      // Whoever held it may have removed the folder since.
      if (!staging.#lock.isHeld()) {
        staging.#lock.release();
        return Staging.open(out, company);
      }
      try {
        await staging.#finishRecorded();
        await rm(staging.#files, { recursive: true, force: true });
        return staging;
      } catch (error) {
        staging.#lock.release();
        throw error;
      }
    });
  }

  /**
   * Where to write the file with this path below the export's folder. Readers' globs look into hidden folders, so
   * that an unfinished file has not its final extension.
   */
  placeOf(file: string): string {
    return path.join(this.#files, `${file}.partial`);
  }

  /**
   * Moves all files into place, then the manifest, and removes files that no longer belong.
   *
   * @throws MirrorError `database`: a file was not written, or is gone; nothing was moved
   */
  commit(record: CommitRecord): Promise<void> {
    return guardedFile(this.#out, async () => {
      const gone = record.files.find((file) => !existsSync(this.placeOf(file.path)));
      if (gone)
        throw new MirrorError("database", `a finished file is gone before it was moved: ${gone.path}`, {
          hint: `Something else removes files below ${this.#folder}. Run it again; the earlier files are unchanged.`,
        });
      writeFileAtomically(this.#record, JSON.stringify(record));
      await this.#finishRecorded();
    });
  }

  /** Removes the staging folder, unless a commit is to be finished, and then releases the lock. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (existsSync(this.#record)) return this.#lock.release();
    try {
      await rm(this.#files, { recursive: true, force: true });
    } finally {
      this.#lock.remove();
    }
    // Who waited for the lock may have the folder by now.
    await rmdir(this.#folder).catch(() => undefined);
  }

  /** Every step can be repeated. */
  async #finishRecorded(): Promise<void> {
    const text = await readFile(this.#record, "utf8").catch(() => null);
    if (text === null) return;
    const { files, manifest, remove } = parseManifest<CommitRecord>(text, ["path", "sha256"]) ?? {};
    const damaged = `the record of an export that was cut off is damaged: ${this.#record}`;
    if (!files || typeof manifest?.path !== "string" || !Array.isArray(remove))
      throw new MirrorError("database", damaged, {
        hint: "Remove it and run the export again: files beside the manifest may be newer than it says.",
      });
    const place = path.join(this.#out, manifest.path);
    if (await this.#isWhole(files)) {
      const folders = new Set(files.map((file) => path.dirname(path.join(this.#out, file.path))));
      for (const folder of folders) makeFolders(folder);
      for (const file of files) await this.#move(file.path);
      for (const folder of folders) syncToDisk(folder);
      makeFolders(path.dirname(place));
      writeFileAtomically(place, manifest.text);
      for (const file of remove) await this.#remove(file);
    } else {
      await rm(place, { force: true });
    }
    await rm(this.#record, { force: true });
  }

  /** Is each file staged still, or in its place already? */
  async #isWhole(files: CommitRecord["files"]): Promise<boolean> {
    for (const { path: file, sha256 } of files)
      if (!existsSync(this.placeOf(file)) && !(await hasContent(path.join(this.#out, file), sha256)))
        return false;
    return true;
  }

  async #move(file: string): Promise<void> {
    const [finished, place] = [this.placeOf(file), path.join(this.#out, file)];
    if (!existsSync(finished)) return;
    keepMode(finished, place);
    await rename(finished, place);
  }

  /** Removes a file and the folders that are empty then. */
  async #remove(file: string): Promise<void> {
    await rm(path.join(this.#out, file), { force: true });
    try {
      for (let folder = path.dirname(file); folder !== "."; folder = path.dirname(folder))
        await rmdir(path.join(this.#out, folder));
    } catch {
      // The folder holds other files.
    }
  }
}
