import { existsSync, lstatSync, readdirSync } from "node:fs";
import path from "node:path";
import { hashOf, type ContentFacts } from "../base/files/hashed-file.ts";
import { messageOf, MirrorError, throwIfAborted } from "../base/errors.ts";
import type { ReadableStore } from "../file-store/file-store.ts";
import type { ArchivePosition } from "../state/meta.ts";
import type { DocumentFile } from "../state/files/stored-files.ts";
import { incomingName, manifestName, objectPath } from "./archive.ts";
import {
  contentsOf,
  filesAfter,
  goesOnFrom,
  readArchiveManifest,
  type ArchiveManifest,
} from "./archive-manifest.ts";

interface FileDamage {
  /** Relative to the company's folder of files. */
  readonly path: string;
  /** `index`: the mirror's row says otherwise. `chain`: a line of the manifest was changed, added or removed. */
  readonly problem: "missing" | "changed" | "extra" | "unreadable" | "chain" | "index";
  readonly message: string;
}

const changedLine = "the line, or one before it, was changed, added or removed";

export type ArchiveCheck = Awaited<ReturnType<typeof checkArchive>>;

interface ArchiveCheckParts {
  readonly folder: string;
  /** Where contents are that the folder has not, nor links to them; null: the folder has all. */
  readonly store: ReadableStore | null;
  /** What the mirror knows; null: there is no mirror that knows of files. */
  readonly mirror: {
    readonly position: ArchivePosition | null;
    readonly files: readonly DocumentFile[];
  } | null;
  readonly signal: AbortSignal;
  readonly onProgress: (checkedBytes: number) => void;
}

/**
 * Reads every byte of the archive: each content against its hash, each link against its content, each line of the
 * manifest against the one before, and whether anything else is there. Writes nothing. May run beside a fetch.
 *
 * @throws MirrorError `stopped`
 */
export async function checkArchive(parts: ArchiveCheckParts) {
  for (let tries = 1; ; tries++) {
    const manifest = readArchiveManifest(path.join(parts.folder, manifestName));
    const check = await new ArchiveReading(parts, manifest).run();
    const now = readArchiveManifest(path.join(parts.folder, manifestName)).position;
    if (check.match || now.head === manifest.position.head || tries === 3) return check;
  }
}

class ArchiveReading {
  private readonly parts: ArchiveCheckParts;
  private readonly manifest: ArchiveManifest;
  private readonly damaged: FileDamage[] = [];
  /** Contents that are as the manifest says. */
  private readonly sound = new Set<string>();
  private bytes = 0;

  constructor(parts: ArchiveCheckParts, manifest: ArchiveManifest) {
    this.parts = parts;
    this.manifest = manifest;
  }

  async run() {
    const { entries, position } = this.manifest;
    const files = filesAfter(entries);
    const contents = contentsOf(entries);
    this.checkChain();
    for (const content of contents) await this.checkContent(content);
    if (!this.parts.store) {
      for (const [place, content] of files) await this.checkLink(place, content);
      const objects = contents.map(({ sha256 }) => objectPath(sha256));
      this.findExtra(new Set([...files.keys(), ...objects, manifestName]));
    }
    this.checkIndex([...files.values()]);
    const { damaged, bytes } = this;
    return {
      match: damaged.length === 0,
      /** As the records have them now. */
      files: files.size,
      /** Older versions among them. */
      contents: contents.length,
      bytes,
      /** Of the manifest. Who keeps the last one elsewhere can prove that no line before it was changed. */
      lines: position.lines,
      head: position.head,
      damaged,
    };
  }

  private checkChain(): void {
    const known = this.parts.mirror?.position ?? null;
    for (const line of this.manifest.broken) this.add(`${manifestName}:${line}`, "chain", changedLine);
    if (!known || goesOnFrom(this.manifest, known)) return;
    const what = `the mirror knows ${known.lines} lines, the last with hash ${known.head}`;
    this.add(manifestName, "chain", what);
  }

  private async checkContent(content: ContentFacts): Promise<void> {
    const { store, signal } = this.parts;
    const { sha256 } = content;
    const place = objectPath(sha256);
    // A fetch, or a crash of one, has it beside its place.
    if (this.inode(place) === null && this.inode(`${incomingName}/${sha256}`) !== null) return;
    if (await this.hasContent(place, content, store?.read(place, signal))) this.sound.add(sha256);
  }

  private async checkLink(place: string, content: ContentFacts): Promise<void> {
    const { sha256 } = content;
    const there = this.inode(place);
    if (there === null || there !== this.inode(objectPath(sha256))) await this.hasContent(place, content);
    else if (!this.sound.has(sha256)) this.add(place, "changed", "its bytes are not those that were fetched");
  }

  /** Names what is wrong with it. Read from the folder, or from the store by `stored`. */
  private async hasContent(place: string, expected: ContentFacts, stored?: AsyncIterable<Uint8Array>) {
    const { folder, signal } = this.parts;
    const { sha256, size_bytes: size } = expected;
    throwIfAborted(signal, "the check was interrupted");
    if (!stored && this.inode(place) === null) return this.add(place, "missing", "the file is not there");
    try {
      const found = await hashOf(stored ?? path.join(folder, place));
      this.bytes += found.size_bytes;
      this.parts.onProgress(this.bytes);
      if (found.sha256 === sha256) return true;
      const what = found.size_bytes === size ? "" : `: ${found.size_bytes} bytes, and ${size} were fetched`;
      return this.add(place, "changed", `its bytes are not those that were fetched${what}`);
    } catch (error) {
      throwIfAborted(signal, "the check was interrupted");
      const isLost = error instanceof MirrorError && error.kind === "not_found";
      return this.add(place, isLost ? "missing" : "unreadable", messageOf(error));
    }
  }

  private findExtra(known: ReadonlySet<string>): void {
    const { folder } = this.parts;
    const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
    for (const entry of entries) {
      const place = path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/");
      if (entry.isDirectory() || known.has(place) || place.startsWith(`${incomingName}/`)) continue;
      this.add(place, "extra", "the manifest does not know the file");
    }
  }

  /** The mirror's rows must be those of the manifest, unless that has gone on. */
  private checkIndex(files: readonly Pick<DocumentFile, "path" | "sha256" | "size_bytes">[]): void {
    const { mirror } = this.parts;
    if (!mirror || mirror.position?.head !== this.manifest.position.head) return;
    const rows = new Map(mirror.files.map((row) => [row.path, row]));
    for (const { path: place, sha256, size_bytes } of files) {
      const row = rows.get(place);
      rows.delete(place);
      if (row?.sha256 !== sha256 || row.size_bytes !== size_bytes)
        this.add(place, "index", "document_files does not say what the manifest says");
    }
    for (const place of rows.keys())
      this.add(place, "index", "document_files names a file that is not there");
  }

  private inode(place: string): number | null {
    const found = lstatSync(path.join(this.parts.folder, place), { throwIfNoEntry: false });
    return found?.isFile() ? found.ino : null;
  }

  private add(place: string, problem: FileDamage["problem"], message: string): false {
    this.damaged.push({ path: place, problem, message });
    return false;
  }
}
