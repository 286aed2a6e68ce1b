import { rmSync } from "node:fs";
import path from "node:path";
import { hintOf, messageOf, MirrorError } from "../../base/errors.ts";
import type { Log } from "../../base/logger.ts";
import type { Config } from "../../config/config.ts";
import { mirrorFiles, type CompanySettings } from "../../store/mirror-files.ts";
import { keptFiles, manifestPath, readManifest } from "../../export/files/export-manifest.ts";
import type { ExportManifest } from "../../export/files/export-manifest.ts";
import { uploadExport } from "../../export/upload-export.ts";
import { openStore } from "../../file-store/open-store.ts";
import type { StoreSurroundings } from "../../file-store/s3-store.ts";
import { exportStep, recordStep } from "../../status/after-run-record.ts";
import { tablesOfReport } from "../../store/snapshot/snapshot-tables.ts";
import { writeRight, type Ownership } from "../ownership/ownership.ts";

/** The entries of a company as a node makes them: in a folder of its own each, to be sent to `to`, or to the folder `out`. */
export function unsentExports(config: Config, company: string): Config["exports"] {
  const folder = mirrorFiles(config, company).unsentExports;
  return config.exports.map(({ to, ...entry }, index) => {
    return { ...entry, out: path.join(folder, String(index)), to: to ?? entry.out };
  });
}

/**
 * Sends the exports that were made of a company after a run, and records those that failed. False: one did.
 *
 * Guarantee: as of `uploadExport`, by the owner only: once the ownership is lost no further file is replaced.
 * Source of truth: the mirror. Worst outcome of a crash: the next owner makes and sends them again.
 *
 * @param refused why none may be sent; null: the published snapshot has all that they show
 * @throws MirrorError `stopped` where the process ends before all are sent
 */
export async function sendExports(
  { config, company: { name: company }, declaration, files }: CompanySettings,
  ownership: Ownership,
  refused: string | null,
  context: StoreSurroundings & { readonly log: Log; readonly signal: AbortSignal },
): Promise<boolean> {
  const { clock, log, signal } = context;
  const right = writeRight(ownership, signal);
  let isSent = true;
  for (const entry of config.exports) {
    const { format, out, to, tables } = entry;
    // The fleet's own Parquet files are published otherwise; that one could not be made is recorded.
    const made = to === null ? null : await readManifest(path.join(out, manifestPath(company)));
    if (to === null || !made) continue;
    const startedMs = clock.nowMs();
    const kept = (before: ExportManifest | null) =>
      keptFiles(before, { format, tables: tables ?? [] }, tablesOfReport(declaration), made.files);
    const result = { manifest: made, written: made.files, kept };
    try {
      if (refused !== null) throw new MirrorError("database", refused);
      await uploadExport(openStore(to, context), out, result, right);
    } catch (thrown) {
      // What lost the company says so once.
      if (!ownership.isHeld()) break;
      if (signal.aborted) throw thrown;
      const error = `it could not be sent: ${messageOf(thrown)}`;
      const step = exportStep(entry, config);
      log.error(`an export could not be sent: ${step}`, { company, error, ...hintOf(thrown) });
      recordStep(files.afterRun, step, { outcome: "failed", error, seq: null }, startedMs, clock.nowMs());
      isSent = false;
    }
  }
  rmSync(files.unsentExports, { recursive: true, force: true });
  return isSent;
}
