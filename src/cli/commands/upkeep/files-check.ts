import { formatCount, formatSize } from "../../../base/units.ts";
import { checkArchive } from "../../../files/check-archive.ts";
import { readArchivePosition } from "../../../state/meta.ts";
import { StoredFiles } from "../../../state/files/stored-files.ts";
import { readMirror } from "../../mirror/company-scope.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { forEachCompany } from "../../runs/each-company.ts";

/** Proves the stored files of each company. Sends no request and writes nothing. */
export const filesCheckCommand: CommandRun<"files check"> = (context, { loaded: { config } }) =>
  forEachCompany(
    context,
    config,
    async (scope) => {
      const { company, files } = scope;
      const mirror = await readMirror(
        scope,
        (db) => db && { position: readArchivePosition(db), files: new StoredFiles(db).all() },
      );
      let line = `${company.name}: checking files`;
      const onProgress = (bytes: number) => void (line = `${company.name}: checked ${formatSize(bytes)}`);
      const parts = { folder: files.folder, mirror, signal: context.signal, onProgress };
      const check = await context.showing(
        () => [line],
        () => checkArchive(parts),
      );
      const { match, damaged, contents, bytes, lines, head } = check;
      const verdict = match ? "are whole" : `are damaged in ${formatCount(damaged.length)} places`;
      const facts = `${formatCount(contents)} contents, ${formatSize(bytes)}, ${formatCount(lines)} lines of the manifest, the last ${head}`;
      const isEmpty = match && lines === 0;
      return {
        document: check,
        lines: isEmpty
          ? [`${company.name}: no files yet in ${files.folder}; \`fintoro-mirror files\` fetches them`]
          : [
              `${company.name}: ${formatCount(check.files)} files ${verdict} (${facts})`,
              ...damaged.map(({ path, problem, message }) => `  ${problem} ${path}: ${message}`),
              ...(match
                ? []
                : [
                    "  remove a damaged file, or restore it: `fintoro-mirror files` fetches again what is missing",
                  ]),
            ],
        outcome: match ? "complete" : "difference",
      };
    },
    { failed: { match: false } },
  );
