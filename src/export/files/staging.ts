import { existsSync } from "node:fs";
import { mkdir, open, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { takeWriterLock, type WriterLock } from "../../store/writer-lock.ts";
import { guardedFile } from "./file-error.ts";

/**
 * Where the files of one run stand until all of them are whole.
 *
 * Guarantee: nothing of before is touched until everything new is on the disk; then a record of what is to be
 * done is written, and only then files move into place, one rename each, the manifest after all of them.
 * Source of truth: the mirror; an export can always be made again. Worst outcome of a crash: some files are
 * new and some are old, each of them whole, until the next run ends what the record says.
 */
export class Staging {
  readonly #out: string;
  readonly #folder: string;
  readonly #lock: WriterLock;

  private constructor(out: string, folder: string, lock: WriterLock) {
    this.#out = out;
    this.#folder = folder;
    this.#lock = lock;
  }

  /** Ends or clears away what an earlier run left. One run at a time writes a company's folder. */
  static open(out: string, company: string): Promise<Staging> {
    return guardedFile(out, async () => {
      const folder = path.join(out, `.${company}.export`);
      await mkdir(folder, { recursive: true });
      const staging = new Staging(out, folder, lockOf(folder));
      await staging.#endRecorded();
      await rm(staging.#files, { recursive: true, force: true });
      return staging;
    });
  }

  get #files(): string {
    return path.join(this.#folder, "files");
  }

  get #record(): string {
    return path.join(this.#folder, "record.json");
  }

  /** Where the file with this path below the export's folder is written first. */
  placeOf(file: string): string {
    return path.join(this.#files, file);
  }

  /** Puts all new files into place, the manifest last, and removes those that no longer belong. */
  commit(record: CommitRecord): Promise<void> {
    return guardedFile(this.#out, async () => {
      await writeWhole(this.#record, JSON.stringify(record));
      await this.#endRecorded();
    });
  }

  /** The folder is as it was, or as `commit` made it. */
  async close(): Promise<void> {
    await rm(this.#files, { recursive: true, force: true });
    this.#lock.release();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Every step can be done twice. */
  async #endRecorded(): Promise<void> {
    const record = await readRecord(this.#record);
    if (!record) return;
    for (const file of record.files) await this.#put(file);
    await mkdir(path.dirname(path.join(this.#out, record.manifest.path)), { recursive: true });
    await writeWhole(path.join(this.#out, record.manifest.path), record.manifest.text);
    for (const file of record.remove) await this.#remove(file);
    await rm(this.#record, { force: true });
  }

  async #put(file: string): Promise<void> {
    const from = this.placeOf(file);
    if (!existsSync(from)) return;
    const to = path.join(this.#out, file);
    await mkdir(path.dirname(to), { recursive: true });
    await rename(from, to);
  }

  /** With the folders that are empty then. */
  async #remove(file: string): Promise<void> {
    await rm(path.join(this.#out, file), { force: true });
    for (let folder = path.dirname(file); folder !== "."; folder = path.dirname(folder)) {
      const gone = await rmdir(path.join(this.#out, folder)).then(
        () => true,
        () => false,
      );
      if (!gone) return;
    }
  }
}

/** What is to be done once everything is whole; paths are below the export's folder. */
export interface CommitRecord {
  readonly files: readonly string[];
  readonly manifest: { readonly path: string; readonly text: string };
  readonly remove: readonly string[];
}

function lockOf(folder: string): WriterLock {
  try {
    return takeWriterLock(path.join(folder, "lock"), "export");
  } catch (error) {
    if (!(error instanceof MirrorError) || error.kind !== "locked") throw error;
    throw new MirrorError(
      "locked",
      error.message.replace("the mirror", `the folder ${path.dirname(folder)}`),
      {
        retryable: true,
        hint: "Wait until that export ends, or choose another folder.",
        cause: error,
      },
    );
  }
}

async function readRecord(file: string): Promise<CommitRecord | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as CommitRecord);
}

/** Beside, on the disk, into place: whoever reads it reads all of it. */
async function writeWhole(file: string, text: string): Promise<void> {
  const beside = `${file}.new`;
  await writeFile(beside, text, { flush: true });
  await rename(beside, file);
  await syncFolder(path.dirname(file));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
