import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import type { Config } from "../../config/config.ts";
import { mirrorFiles } from "../../config/mirror-files.ts";
import { ok, warn, type CheckResult } from "./check-result.ts";

/** Rights of everybody but the owner. */
const ofOthers = 0o077;

/**
 * Warns where users other than the owner have rights on folders and files of the mirrors, reports and exports. A report
 * may be as open as `report.mode`, in a folder of its own.
 */
export function checkModes(config: Config): CheckResult {
  const { dataDir, exports, companies, report } = config;
  const readable = (report.mode ?? 0) & ofOthers;
  const names = companies.map(({ name }) => name);
  const reports = names.map((name) => mirrorFiles(config, name).report);
  const opened = new Map(reports.map((file) => [file, readable]));
  if (report.out !== null && report.out !== dataDir) opened.set(report.out, readable | (readable >> 2));
  const isOwn = (entry: string) => names.some((name) => entry.startsWith(`${name}.`));
  const places = [
    dataDir,
    ...entriesOf(dataDir)
      .filter(isOwn)
      .map((entry) => path.join(dataDir, entry)),
    ...(report.out === null ? [] : [report.out]),
    ...reports,
    ...exports.flatMap(({ out }) => names.flatMap((name) => exportedPlaces(out, name))),
  ];
  const wide = [...new Set(places)].filter(
    (place) => (modeOf(place) & ofOthers & ~(opened.get(place) ?? 0)) !== 0,
  );
  return resultOf(wide, report.mode !== null && report.out === null);
}

function exportedPlaces(out: string, company: string): string[] {
  const folders = [company, `company=${company}`].map((name) => path.join(out, name));
  return folders.flatMap((folder) => [folder, ...entriesOf(folder).map((entry) => path.join(folder, entry))]);
}

/** Empty where there is no such folder, or it cannot be read. */
function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function modeOf(place: string): number {
  return statSync(place, { throwIfNoEntry: false })?.mode ?? 0;
}

function resultOf(wide: readonly string[], isHidden: boolean): CheckResult {
  const [first] = wide;
  if (first !== undefined) {
    const more = wide.length === 1 ? "" : `, and ${wide.length - 1} more`;
    const mode = (modeOf(first) & 0o777).toString(8).padStart(4, "0");
    const hint =
      "`chmod -R go= FOLDER` closes it; for readers under another user see report.out and report.mode";
    return warn("modes", `other users have rights on ${first} (${mode})${more}`, hint);
  }
  if (!isHidden) return ok("modes", "folders and files are their owner's alone");
  const hint = "set report.out to a folder of its own";
  return warn("modes", "report.mode opens the report, but the folder that it is in stays closed", hint);
}
