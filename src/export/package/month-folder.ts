import { readFile } from "node:fs/promises";
import path from "node:path";
import { MirrorError } from "../../base/errors.ts";
import { resourceNamed, type ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import type { Snapshot } from "../../state/mirror-snapshot.ts";
import { quoted } from "../../store/sql-text.ts";
import type { MonthPeriod } from "../plan/period.ts";
import {
  isWithin,
  manifestText,
  parseManifest,
  partsOf,
  writeNewFile,
} from "../../base/files/hashed-file.ts";
import { Staging } from "../files/staging.ts";
import { ZipStream } from "../files/zip-stream.ts";

/** A file of a month's folder: its path in it, and where its content is from. */
export interface MonthFile {
  readonly path: string;
  readonly from:
    { readonly file: string } | { readonly content: AsyncIterable<Uint8Array> } | { readonly text: string };
  /** What its content must be; absent: anything. */
  readonly sha256?: string;
}

/** Every other file of a month's folder. Without a certificate no time: the same month gives the same bytes. */
export interface MonthManifest {
  readonly company: string;
  readonly month: string;
  /** How it was proved; absent: it was not. */
  readonly certificate?: object;
  /** The position of the mirror that the files show, and who asked for them. */
  readonly hand_over: { readonly log: string; readonly position: number; readonly command: string };
  readonly files: readonly { readonly path: string; readonly bytes: number; readonly sha256: string }[];
}

/**
 * Writes the folder of a company's month, and a ZIP of it beside it if asked for.
 *
 * Guarantee: earlier files stay until all new ones are on the disk, as Staging says. Files of the earlier folder that no
 * longer belong are removed; files that somebody else put there stay. Source of truth: the mirror and the archive of files.
 * Worst outcome of a crash: see Staging.
 *
 * @throws MirrorError `database`: a file of the archive is damaged, or the folder cannot be written
 */
export async function writeMonthFolder(
  out: string,
  head: Omit<MonthManifest, "files">,
  files: readonly MonthFile[],
  isZipped: boolean,
) {
  const { company, month } = head;
  const base = `${company}/${month}`;
  const folder = path.join(out, base);
  await using staging = await Staging.open(out, company);
  const written: MonthManifest["files"][number][] = [];
  for (const file of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const facts = await writeNewFile(staging.placeOf(`${base}/${file.path}`), contentOf(file));
    if (file.sha256 !== undefined && file.sha256 !== facts.sha256)
      throw new MirrorError("database", `a file of the archive is damaged: ${file.path}`, {
        hint: "Run `fintoro-mirror files check`, and `fintoro-mirror files`, which fetches it again.",
      });
    written.push({ path: file.path, bytes: facts.size_bytes, sha256: facts.sha256 });
  }
  const manifest: MonthManifest = { ...head, files: written };
  const text = manifestText(manifest);
  const zip = `${base}.zip`;
  const placed = written.map(({ path: file, sha256 }) => ({ path: `${base}/${file}`, sha256 }));
  if (isZipped) {
    const { sha256 } = await writeNewFile(staging.placeOf(zip), zipOf(staging, manifest, text));
    placed.push({ path: zip, sha256 });
  }
  const now = new Set(written.map((file) => file.path));
  const earlier = await readFile(path.join(folder, "manifest.json"), "utf8").catch(() => null);
  const named = (parseManifest<MonthManifest>(earlier, ["path"])?.files ?? []).map((file) => file.path);
  // A forged manifest must not remove other files.
  const gone = named.filter((file) => isWithin(file) && !now.has(file));
  await staging.commit({
    files: placed,
    manifest: { path: `${base}/manifest.json`, text },
    // A ZIP of other files than the folder's misleads.
    remove: [...gone.map((file) => `${base}/${file}`), ...(isZipped ? [] : [zip])],
  });
  return { folder, zip: isZipped ? path.join(out, zip) : null, manifest, isNew: earlier === null };
}

async function* contentOf({ from }: MonthFile): AsyncGenerator<Uint8Array> {
  if ("text" in from) yield Buffer.from(from.text);
  else yield* "file" in from ? partsOf(from.file) : from.content;
}

async function* zipOf(staging: Staging, { company, month, files }: MonthManifest, manifest: string) {
  const zip = new ZipStream();
  for (const { path: file } of files)
    yield* zip.entry(`${month}/${file}`, partsOf(staging.placeOf(`${company}/${month}/${file}`)));
  yield* zip.entry(`${month}/manifest.json`, [Buffer.from(manifest)]);
  yield* zip.end();
}

export type MonthDocument = ReturnType<typeof documentsOfMonth>[number];

/** The documents of a month whose files belong to its package. */
export function documentsOfMonth(
  { db }: Snapshot,
  declaration: ConnectorDeclaration,
  { from, to }: MonthPeriod,
) {
  const names = declaration.monthPackage?.documents ?? [];
  return names.flatMap((resource) => {
    const { files } = resourceNamed(declaration, resource);
    if (!files) return [];
    const [name = "id"] = files.name;
    const sql = `SELECT id, CAST(${quoted(name)} AS TEXT) FROM ${quoted(resource)}
      WHERE ${quoted(files.date)} BETWEEN ? AND ? ORDER BY id`;
    const rows = db.prepare(sql).raw().all(from, to) as [number, string | null][];
    return rows.map(([id, text]) => ({ ref: { resource, id }, name: text ?? String(id) }));
  });
}
