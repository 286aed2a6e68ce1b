import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { manifest as fintoro } from "../../../connectors/fintoro/manifest.ts";
import type { ExportManifest } from "../../../src/export/files/export-manifest.ts";
import { openMirror } from "../../../src/state/mirror.ts";
import { openDatabase } from "../../../src/store/database.ts";
import { startProgram, temporaryFolder } from "../program/cli.ts";

/** A folder with a config and a mirror of clients, each of which has the `generation` of the last change. */
export async function setUpExportCrash(clients: number) {
  const folder = temporaryFolder({
    "config.yaml": "data_dir: .\ncompanies: { acme: { token: '${env:FINTORO_TOKEN}' } }\n",
  });
  const file = path.join(folder, "acme.db");
  const mirror = await openMirror(file, fintoro);
  mirror.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${clients})
    INSERT INTO clients (id, name, email, _synced_at) SELECT i, 'client ' || i || hex(randomblob(8)), '0', '' FROM n`);
  mirror.close();
  const out = path.join(folder, "out");
  return {
    folder,
    out,
    change: (generation: number) => {
      const db = openDatabase(file);
      db.prepare("UPDATE clients SET email = ?").run(String(generation));
      db.close();
    },
    /** Starts the real program. */
    start: (args: readonly string[]) => startProgram(["export", ...args, "--out", out], { cwd: folder }),
  };
}

/** The manifest and the files that differ from it; null: there is no manifest. */
export function namedFiles(out: string): { manifest: ExportManifest; wrong: string[] } | null {
  const file = path.join(out, "acme/manifest.json");
  if (!existsSync(file)) return null;
  const manifest = JSON.parse(readFileSync(file, "utf8")) as ExportManifest;
  const wrong = manifest.files.filter((each) => hashOf(path.join(out, "acme", each.file)) !== each.sha256);
  return { manifest, wrong: wrong.map((each) => each.file) };
}

function hashOf(file: string): string | null {
  return existsSync(file) ? createHash("sha256").update(readFileSync(file)).digest("hex") : null;
}

/** Bytes in the staging folder; null: there is none. */
export function stagedBytes(out: string): number | null {
  const folder = path.join(out, ".acme.export/files");
  if (!existsSync(folder)) return null;
  try {
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
    return files.reduce((sum, file) => sum + statSync(path.join(folder, file)).size, 0);
  } catch {
    return null;
  }
}
