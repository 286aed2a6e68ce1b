import { existsSync, linkSync, copyFileSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { makeFolders, replaceFile, syncToDisk } from "../base/files/atomic-file.ts";
import type { ContentFacts } from "../base/files/hashed-file.ts";
import { isoTime, type Clock } from "../base/clock.ts";
import type { RecordRef } from "../base/ids.ts";
import type { FileKind } from "../connector/resource.ts";
import { guarded, type Db } from "../store/database.ts";
import { readArchivePosition, type ArchivePosition } from "../state/meta.ts";
import { StoredFiles, type DocumentFile, type FileRead } from "../state/files/stored-files.ts";
import {
  appendToManifest,
  emptyPosition,
  filesAfter,
  goesOnFrom,
  readArchiveManifest,
} from "./archive-manifest.ts";
import type { ManifestEntry, PresentEntry } from "./archive-manifest.ts";
import { pathKey } from "./file-names.ts";

/** Names within a company's folder of files. */
export const manifestName = "manifest.jsonl";
/** The content of all files by their hashes, one for all files that are equal. */
export const objectsName = "objects";
export const incomingName = "incoming";

/** `objects/ab/abcdef…`, with slashes. */
export function objectPath(sha256: string): string {
  return `${objectsName}/${sha256.slice(0, 2)}/${sha256}`;
}

export interface NewFile extends ContentFacts {
  /** Where it is filed; given whether a place is another file's. */
  readonly placed: (isTaken: (path: string) => boolean) => string;
  /** Holds its content, in the folder of a draft. */
  readonly file: string;
}

/**
 * The PDFs and attachments of one company: contents by hash, links with names that people read, and a manifest to which
 * lines are only ever added.
 *
 * Guarantee: a file is under its name whole or not at all; what the manifest names is on the disk. Contents are never
 * overwritten by others, so that older versions stay.
 * Source of truth: the manifest. Links and `document_files` are made from it again.
 * Worst outcome of a crash: the files of the answers in flight are asked for again.
 */
export class FileArchive {
  private readonly folder: string;
  private readonly stored: StoredFiles;
  private readonly clock: Clock;
  private readonly isLinked: boolean;
  private position: ArchivePosition;
  /** Who has a path, by its key. */
  private readonly owners: Map<string, string>;

  private constructor(folder: string, db: Db, clock: Clock, isLinked: boolean) {
    this.folder = folder;
    this.clock = clock;
    this.isLinked = isLinked;
    this.stored = new StoredFiles(db);
    for (const name of [incomingName, objectsName]) makeFolders(this.at(name));
    this.position = this.takeOver(db);
    const files = this.stored.all();
    this.owners = new Map(files.map((file) => [pathKey(file.path), ownerOf(file)]));
    if (isLinked) this.repairLinks(files);
  }

  /**
   * Opens the archive, whose lock the caller holds, and finishes what a crash left. What is lost is asked for again.
   *
   * @param isLinked false: contents are moved to a store from here, so nobody reads them by their names
   */
  static open(folder: string, db: Db, clock: Clock, isLinked: boolean): FileArchive {
    return guarded(folder, () => new FileArchive(folder, db, clock, isLinked));
  }

  /** Does `work` with an empty folder for what an answer brings. What is left there is removed. */
  async withDraft<T>(name: string, work: (folder: string) => Promise<T>): Promise<T> {
    const draft = this.incoming(name);
    guarded(draft, () => makeFolders(draft));
    return work(draft).finally(() => rmSync(draft, { recursive: true, force: true }));
  }

  /** Stores everything that an answer brought for a record, in place of what it had. */
  store(read: FileRead, kind: FileKind, files: readonly NewFile[]) {
    return guarded(this.folder, () => {
      const owner = ownerOf({ document: read.ref.resource, document_id: read.ref.id });
      const before = this.stored.of(read.ref);
      const at = isoTime(this.clock.nowMs());
      const next = this.place(owner, files).map(({ place, file: draft, ...facts }): DocumentFile => {
        this.takeContent(draft, facts);
        const same = before.find((file) => file.path === place && file.sha256 === facts.sha256);
        const { resource: document, id: document_id } = read.ref;
        return same ?? { document, document_id, kind, path: place, ...facts, fetched_at: at };
      });
      const gone = before.filter((file) => !next.some((each) => each.path === file.path));
      const changed = next.filter((file) => !before.includes(file));
      this.append(read, at, gone, changed);
      for (const { path: old } of gone) {
        rmSync(this.at(old), { force: true });
        this.owners.delete(pathKey(old));
      }
      for (const { sha256 } of next) if (existsSync(this.incoming(sha256))) this.keepContent(sha256);
      if (this.isLinked) for (const file of next) link(this.folder, file);
      this.stored.replace(read, next, this.position);
      for (const file of next) this.owners.set(pathKey(file.path), owner);
      return { written: changed.length, bytes: changed.reduce((sum, { size_bytes }) => sum + size_bytes, 0) };
    });
  }

  private place(owner: string, files: readonly NewFile[]) {
    const taken = new Set<string>();
    return files.map(({ placed, ...content }) => {
      const place = placed((candidate) => {
        const key = pathKey(candidate);
        return taken.has(key) || (this.owners.get(key) ?? owner) !== owner;
      });
      taken.add(pathKey(place));
      return { place, ...content };
    });
  }

  private append(
    { recordSha: record }: FileRead,
    at: string,
    gone: readonly DocumentFile[],
    changed: readonly DocumentFile[],
  ): void {
    if (gone.length + changed.length === 0) return;
    const removals = gone.map((file): ManifestEntry => ({ ...entryOf(file, record), at, sha256: null }));
    const lines = [...removals, ...changed.map((file) => entryOf(file, record))];
    this.position = appendToManifest(this.at(manifestName), this.position, lines);
  }

  /** Leaves the content beside its place: there it would be a file that no line of the manifest names. */
  private takeContent(draft: string, { sha256, size_bytes }: ContentFacts): void {
    const there = statSync(this.at(objectPath(sha256)), { throwIfNoEntry: false });
    if (there?.size !== size_bytes) replaceFile(draft, this.incoming(sha256));
  }

  private keepContent(sha256: string): void {
    const object = this.at(objectPath(sha256));
    makeFolders(path.dirname(object));
    replaceFile(this.incoming(sha256), object);
  }

  /** Finishes what a crash left, and makes the mirror's rows from the manifest again where they are of another one. */
  private takeOver(db: Db): ArchivePosition {
    const known = readArchivePosition(db) ?? emptyPosition;
    const manifest = readArchiveManifest(this.at(manifestName));
    const files = [...filesAfter(manifest.entries).values()];
    this.finishIncoming(new Set(manifest.entries.map(({ sha256 }) => sha256)));
    if (goesOnFrom(manifest, known) && manifest.position.lines === known.lines) return manifest.position;
    // The chain of a manifest that lost lines shows it for ever: the next line follows the one that is lost.
    const head = goesOnFrom(manifest, known) ? manifest.position.head : known.head;
    const position = { ...manifest.position, head };
    const reads = new Map(files.map((file) => [ownerOf(file), readOf(file)]));
    this.stored.rebuild(files.map(toDocumentFile), [...reads.values()], position);
    return position;
  }

  private finishIncoming(named: ReadonlySet<string | null>): void {
    for (const name of readdirSync(this.at(incomingName))) {
      if (named.has(name)) this.keepContent(name);
      else rmSync(this.incoming(name), { recursive: true, force: true });
    }
  }

  /** What lost its content is asked for again. */
  private repairLinks(files: readonly DocumentFile[]): void {
    const lost = relink(this.folder, files);
    const refs = lost.map(({ document: resource, document_id: id }): RecordRef => ({ resource, id }));
    if (refs.length > 0) this.stored.forget(refs);
  }

  private at(name: string): string {
    return path.join(this.folder, name);
  }

  private incoming(name: string): string {
    return this.at(`${incomingName}/${name}`);
  }
}

/** Links the files of a folder that came from a backup, as the manifest in it names them. */
export function relinkArchive(folder: string): void {
  const { entries } = readArchiveManifest(path.join(folder, manifestName));
  relink(folder, [...filesAfter(entries).values()]);
}

/** Links again what lost its link. Gives what lost its content. */
function relink<T extends Content>(folder: string, files: readonly T[]): T[] {
  const isThere = (file: T, place: string) =>
    statSync(path.join(folder, place), { throwIfNoEntry: false })?.size === file.size_bytes;
  const [kept, lost] = [[], []] as [T[], T[]];
  for (const file of files) (isThere(file, objectPath(file.sha256)) ? kept : lost).push(file);
  for (const file of kept) if (!isThere(file, file.path)) link(folder, file);
  return lost;
}

type Content = Pick<DocumentFile, "path" | "sha256" | "size_bytes">;

/** A hard link, which every program takes for the file itself; a copy where the file system has none. */
function link(folder: string, { sha256, path: name }: Content): void {
  const [object, place] = [path.join(folder, objectPath(sha256)), path.join(folder, name)];
  if (statSync(place, { throwIfNoEntry: false })?.ino === statSync(object).ino) return;
  const draft = path.join(folder, incomingName, "link");
  rmSync(draft, { force: true });
  for (const each of [draft, place]) makeFolders(path.dirname(each));
  try {
    linkSync(object, draft);
  } catch {
    copyFileSync(object, draft);
  }
  renameSync(draft, place);
  syncToDisk(path.dirname(place));
}

function ownerOf({ document, document_id }: Pick<DocumentFile, "document" | "document_id">): string {
  return `${document} ${document_id}`;
}

function entryOf(file: DocumentFile, record: string): ManifestEntry {
  const { fetched_at: at, ...rest } = file;
  return { at, ...rest, record };
}

function toDocumentFile(entry: PresentEntry): DocumentFile {
  const { document, document_id, kind, path: place, size_bytes, sha256, at: fetched_at } = entry;
  return { document, document_id, kind, path: place, size_bytes, sha256, fetched_at };
}

function readOf({ document, document_id, record, at }: PresentEntry): FileRead {
  const ref = { resource: document, id: document_id };
  return { ref, recordSha: record, readAtMs: Date.parse(at), problem: null };
}
