import { existsSync } from "node:fs";
import { readFile, rename, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { keepMode, makeFolders, syncToDisk, writeFileAtomically } from "../../base/atomic-file.ts";
import { takeWriterLock, type WriterLock } from "../../store/writer-lock.ts";
import { guardedFile } from "./guarded-file.ts";

/** What a commit does; paths are below the export's folder. */
export interface CommitRecord {
  readonly files: readonly string[];
  readonly manifest: { readonly path: string; readonly text: string };
  readonly remove: readonly string[];
}

/**
 * Where the files of one run are written until all are complete.
 *
 * Guarantee: earlier files stay untouched until every new file is on the disk. Then `commit` writes a record
 * of what to do and moves the files into place, one rename each, the manifest last.
 * Source of truth: the mirror; an export can be repeated at any time.
 * Worst outcome of a crash: some files are new and some old, each of them complete, until the next run
 * finishes what the record says.
 */
export class Staging {
  readonly #out: string;
  readonly #folder: string;
  readonly #files: string;
  readonly #record: string;
  readonly #lock: WriterLock;

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
      await staging.#finishRecorded();
      await rm(staging.#files, { recursive: true, force: true });
      return staging;
    });
  }

  /**
   * Where to write the file with this path below the export's folder. Readers' globs look into hidden folders, so
   * that an unfinished file has not its final extension.
   */
  placeOf(file: string): string {
    return path.join(this.#files, `${file}.partial`);
  }

  /** Moves all files into place, then the manifest, and removes files that no longer belong. */
  commit(record: CommitRecord): Promise<void> {
    return guardedFile(this.#out, async () => {
      writeFileAtomically(this.#record, JSON.stringify(record));
      await this.#finishRecorded();
    });
  }

  /** Removes the staging folder and releases the lock. */
  async close(): Promise<void> {
    await rm(this.#files, { recursive: true, force: true });
    this.#lock.release();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Every step can be repeated. */
  async #finishRecorded(): Promise<void> {
    const text = await readFile(this.#record, "utf8").catch(() => null);
    if (text === null) return;
    const { files, manifest, remove } = JSON.parse(text) as CommitRecord;
    const folders = new Set(files.map((file) => path.dirname(path.join(this.#out, file))));
    for (const folder of folders) makeFolders(folder);
    for (const file of files)
      if (existsSync(this.placeOf(file))) await this.#move(this.placeOf(file), path.join(this.#out, file));
    for (const folder of folders) syncToDisk(folder);
    const place = path.join(this.#out, manifest.path);
    makeFolders(path.dirname(place));
    writeFileAtomically(place, manifest.text);
    for (const file of remove) await this.#remove(file);
    await rm(this.#record, { force: true });
  }

  async #move(finished: string, file: string): Promise<void> {
    keepMode(finished, file);
    await rename(finished, file);
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
