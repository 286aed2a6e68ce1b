import { readFile } from "node:fs/promises";
import type { Format } from "../plan/formats.ts";

export interface ManifestFile {
  readonly table: string;
  readonly format: Format;
  /** Relative to the manifest. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** The state of the mirror that the file is of. */
  readonly seq: number;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** What stands in a company's folder, written after everything that it names. */
export interface ExportManifest {
  readonly company: string;
  readonly created_at: string;
  /** The last change that the files of this run hold. */
  readonly seq: number;
  /** The position to give `--since` next time: everything after it is new. */
  readonly next_since: number;
  /** Of a `--since` run: its files hold what changed after this. */
  readonly since: number | null;
  /** The last run of `sync` before it. */
  readonly run: { readonly id: number; readonly outcome: string; readonly finished_at: string } | null;
  readonly files: readonly ManifestFile[];
}

/** Null: there is none, or none that can be read; a damaged one protects nothing. */
export async function readManifest(path: string): Promise<ExportManifest | null> {
  try {
    const manifest = JSON.parse(await readFile(path, "utf8")) as Partial<ExportManifest>;
    return Array.isArray(manifest.files) ? (manifest as ExportManifest) : null;
  } catch {
    return null;
  }
}

/**
 * The files of before that stay in the manifest: those of other formats, and those of tables that were not
 * asked for where some were asked for by name. All others are replaced, or no longer belong.
 */
export function keptFiles(
  before: ExportManifest | null,
  format: Format,
  named: ReadonlySet<string> | null,
): ManifestFile[] {
  return (before?.files ?? []).filter(
    (file) => file.format !== format || (named !== null && !named.has(file.table)),
  );
}
