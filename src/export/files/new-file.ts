import { createHash } from "node:crypto";
import { mkdir, open, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { guardedFile } from "./file-error.ts";

/** A finished file. */
export interface WrittenFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes one new file from its beginning to its end. All methods throw MirrorError `database`. */
export class FileSink {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash("sha256");
  bytes = 0;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** Creates the file, and its folders. */
  static open(path: string): Promise<FileSink> {
    return guardedFile(path, async () => {
      await mkdir(dirname(path), { recursive: true });
      return new FileSink(path, await open(path, "w"));
    });
  }

  write(part: Uint8Array): Promise<void> {
    return guardedFile(this.path, async () => {
      const written = this.#handle.writeFile(part);
      this.#hash.update(part);
      await written;
      this.bytes += part.length;
    });
  }

  /** Closes the file when its content is on the disk. */
  async finish(): Promise<WrittenFile> {
    await guardedFile(this.path, async () => {
      await this.#handle.sync();
      await this.#handle.close();
    });
    return { bytes: this.bytes, sha256: this.#hash.digest("hex") };
  }

  /** Closes an unfinished file. */
  async drop(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
  }
}
