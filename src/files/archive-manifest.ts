import { hash } from "node:crypto";
import { existsSync, fsyncSync, ftruncateSync, readFileSync, writeFileSync } from "node:fs";
import { openFile } from "../base/files/atomic-file.ts";
import { recordId, type RecordId } from "../base/ids.ts";
import { objectIn } from "../json/literal.ts";
import type { FileKind } from "../connector/resource.ts";
import type { ArchivePosition } from "../state/meta.ts";

/** What a line of the manifest says: a file is there from now on, or its record has it no longer. */
export interface ManifestEntry {
  /** ISO. */
  readonly at: string;
  readonly document: string;
  readonly document_id: RecordId;
  readonly kind: FileKind;
  /** Relative to the manifest, with slashes. */
  readonly path: string;
  readonly size_bytes: number;
  /** Null: the record has the file no longer; its content stays. */
  readonly sha256: string | null;
  /** The hash of the record's JSON for which the file was asked. */
  readonly record: string;
}

export type ArchiveManifest = Readonly<ReturnType<typeof readArchiveManifest>>;

/** Where a manifest without lines stands. */
export const emptyPosition: ArchivePosition = { lines: 0, bytes: 0, head: "0".repeat(64) };

/**
 * Reads a manifest and proves its chain: each line holds the hash of the line before it. What stands behind the last
 * line break was never finished, and is left out. `heads`: the hash of each line. `broken`: lines that do not follow the
 * one before them or cannot be read, from 1.
 */
export function readArchiveManifest(file: string) {
  const content = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const [entries, heads, broken]: [ManifestEntry[], string[], number[]] = [[], [], []];
  let { head } = emptyPosition;
  let start = 0;
  for (let end; (end = content.indexOf(10, start)) >= 0; start = end + 1) {
    const line = content.subarray(start, end);
    const parsed = parseLine(line.toString());
    if (parsed?.previous !== head) broken.push(heads.length + 1);
    if (parsed) entries.push(parsed.entry);
    heads.push((head = hash("sha256", line, "hex")));
  }
  const position: ArchivePosition = { lines: heads.length, bytes: start, head };
  return { entries, heads, broken, position };
}

/** Does the manifest hold what was known of it before, and perhaps more? */
export function goesOnFrom({ heads }: ArchiveManifest, known: ArchivePosition): boolean {
  return known.head === (heads[known.lines - 1] ?? (known.lines === 0 ? emptyPosition.head : null));
}

/** Null for a line that this program did not write. A manifest from elsewhere names no file outside of its folder. */
function parseLine(text: string): { readonly entry: ManifestEntry; readonly previous: unknown } | null {
  const parsed: unknown = objectIn(text);
  const { previous, document_id, ...rest } = parsed as ManifestEntry & { previous: unknown };
  const id = recordId(String(document_id));
  const isHash = rest.sha256 === null || /^[0-9a-f]{64}$/.test(rest.sha256);
  const isWithin =
    /^[^/\\\0]+(?:\/[^/\\\0]+)+$/.test(rest.path) && !/(?:^|\/)\.{1,2}(?:\/|$)/.test(rest.path);
  return id !== null && isHash && isWithin ? { entry: { ...rest, document_id: id }, previous } : null;
}

/** Writes lines behind a position, and waits until they are on the disk. Whatever stands there was never finished. */
export function appendToManifest(
  file: string,
  position: ArchivePosition,
  entries: readonly ManifestEntry[],
): ArchivePosition {
  let { head, bytes } = position;
  const lines = entries.map((entry) => {
    const { document_id: id } = entry;
    const shown = typeof id === "bigint" ? String(id) : id;
    const line = JSON.stringify({ ...entry, document_id: shown, previous: head });
    head = hash("sha256", line, "hex");
    return `${line}\n`;
  });
  const text = Buffer.from(lines.join(""));
  using opened = openFile(file, "a", 0o600);
  ftruncateSync(opened.fd, bytes);
  writeFileSync(opened.fd, text);
  fsyncSync(opened.fd);
  bytes += text.length;
  return { lines: position.lines + entries.length, bytes, head };
}

/** What says that a file is there. */
export type PresentEntry = ManifestEntry & { readonly sha256: string };

/** The last file of each content, with older versions. */
export function contentsOf(entries: readonly ManifestEntry[]): PresentEntry[] {
  const present = entries.flatMap(({ sha256, ...rest }) => (sha256 === null ? [] : [{ ...rest, sha256 }]));
  return [...new Map(present.map((entry) => [entry.sha256, entry])).values()];
}

/** The files as they are after all lines, by path. */
export function filesAfter(entries: readonly ManifestEntry[]): Map<string, PresentEntry> {
  const files = new Map<string, PresentEntry>();
  for (const entry of entries) {
    const { sha256, path } = entry;
    if (sha256 === null) files.delete(path);
    else files.set(path, { ...entry, sha256 });
  }
  return files;
}
