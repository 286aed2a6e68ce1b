import { existsSync, lstatSync, readdirSync } from "node:fs";
import path from "node:path";
import { hashOf, type ContentFacts } from "../base/files/hashed-file.ts";
import { messageOf, MirrorError, throwIfAborted } from "../base/errors.ts";
import type { ReadableStore } from "../file-store/file-store.ts";
import type { ArchivePosition } from "../state/meta.ts";
import type { DocumentFile } from "../state/files/stored-files.ts";
import { incomingName, manifestName, objectPath } from "./archive.ts";
import { contentsOf, filesAfter, goesOnFrom, readArchiveManifest } from "./archive-manifest.ts";
import type { ArchiveManifest, PresentEntry } from "./archive-manifest.ts";

interface FileDamage {
  /** Relative to the company's folder of files. */
  readonly path: string;
  /** `index`: the mirror's row says otherwise. `chain`: a line of the manifest was changed, added or removed. */
  readonly problem: "missing" | "changed" | "extra" | "unreadable" | "chain" | "index";
  readonly message: string;
}

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
    const check = await checkFiles(parts, manifest);
    const now = readArchiveManifest(path.join(parts.folder, manifestName)).position;
    if (check.match || now.head === manifest.position.head || tries === 3) return check;
  }
}

async function checkFiles(parts: ArchiveCheckParts, manifest: ArchiveManifest) {
  const { folder, store, mirror, signal } = parts;
  const { entries, position } = manifest;
  const files = filesAfter(entries);
  const contents = contentsOf(entries);
  const damaged = damagedLines(manifest, mirror?.position ?? null);
  let bytes = 0;
  /** Is it as it was fetched? Names what is wrong. Read from the folder, or from the store by `stored`. */
  const isSound = async (place: string, expected: ContentFacts, stored?: AsyncIterable<Uint8Array>) => {
    throwIfAborted(signal, "the check was interrupted");
    const add = (problem: FileDamage["problem"], message: string): false => {
      damaged.push(damage(place, problem, message));
      return false;
    };
    if (!stored && inodeOf(folder, place) === null) return add("missing", "the file is not there");
    try {
      const found = await hashOf(stored ?? path.join(folder, place));
      parts.onProgress((bytes += found.size_bytes));
      if (found.sha256 === expected.sha256) return true;
      const sizes = `: ${found.size_bytes} bytes, and ${expected.size_bytes} were fetched`;
      return add("changed", `${otherBytes}${found.size_bytes === expected.size_bytes ? "" : sizes}`);
    } catch (error) {
      throwIfAborted(signal, "the check was interrupted");
      const isLost = error instanceof MirrorError && error.kind === "not_found";
      return add(isLost ? "missing" : "unreadable", messageOf(error));
    }
  };
  const sound = new Set<string>();
  for (const content of contents) {
    const place = objectPath(content.sha256);
    // A fetch, or a crash of one, has it beside its place.
    const isIncoming = inodeOf(folder, `${incomingName}/${content.sha256}`) !== null;
    if (isIncoming && inodeOf(folder, place) === null) continue;
    if (await isSound(place, content, store?.read(place, signal))) sound.add(content.sha256);
  }
  for (const [place, content] of store ? [] : files) {
    const there = inodeOf(folder, place);
    const isLink = there !== null && there === inodeOf(folder, objectPath(content.sha256));
    if (!isLink) await isSound(place, content);
    else if (!sound.has(content.sha256)) damaged.push(damage(place, "changed", otherBytes));
  }
  const objects = contents.map(({ sha256 }) => objectPath(sha256));
  if (!store) damaged.push(...extraFiles(folder, new Set([...files.keys(), ...objects, manifestName])));
  if (mirror && mirror.position?.head === position.head)
    damaged.push(...damagedRows([...files.values()], mirror.files));
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

function damage(place: string, problem: FileDamage["problem"], message: string): FileDamage {
  return { path: place, problem, message };
}

const otherBytes = "its bytes are not those that were fetched";

function damagedLines(manifest: ArchiveManifest, known: ArchivePosition | null): FileDamage[] {
  const message = "the line, or one before it, was changed, added or removed";
  const broken = manifest.broken.map((line) => damage(`${manifestName}:${line}`, "chain", message));
  if (!known || goesOnFrom(manifest, known)) return broken;
  const what = `the mirror knows ${known.lines} lines, the last with hash ${known.head}`;
  return [...broken, damage(manifestName, "chain", what)];
}

function extraFiles(folder: string, known: ReadonlySet<string>): FileDamage[] {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : [];
  return entries.flatMap((entry) => {
    const place = path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join("/");
    if (entry.isDirectory() || known.has(place) || place.startsWith(`${incomingName}/`)) return [];
    return damage(place, "extra", "the manifest does not know the file");
  });
}

/** The mirror's rows must be those of a manifest that has not gone on since. */
function damagedRows(files: readonly PresentEntry[], rows: readonly DocumentFile[]): FileDamage[] {
  const left = new Map(rows.map((row) => [row.path, row]));
  const differing = files.filter(({ path: place, sha256, size_bytes }) => {
    const row = left.get(place);
    left.delete(place);
    return row?.sha256 !== sha256 || row.size_bytes !== size_bytes;
  });
  const otherRow = "document_files does not say what the manifest says";
  const lostFile = "document_files names a file that is not there";
  return [
    ...differing.map((file) => damage(file.path, "index", otherRow)),
    ...[...left.keys()].map((place) => damage(place, "index", lostFile)),
  ];
}

function inodeOf(folder: string, place: string): number | null {
  const found = lstatSync(path.join(folder, place), { throwIfNoEntry: false });
  return found?.isFile() ? found.ino : null;
}
