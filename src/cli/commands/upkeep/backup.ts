import { formatSize } from "../../../base/units.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { addressOfBackups, backupCompany } from "../../runs/backup-company.ts";
import { forEachCompany } from "../../runs/each-company.ts";

/** Makes a backup of each company. Only the config's own place is tidied by the config's `keep`. */
export const backupCommand: CommandRun<"backup"> = (context, { options, loaded: { config } }) =>
  forEachCompany(context, config, async (scope) => {
    const to = addressOfBackups(scope, options.to);
    const keep = options.keep ?? (options.to === undefined ? config.backup.keep : null);
    const withKeys = options.keys && config.backup.keys;
    const { id, manifest, bytes, removed } = await backupCompany(scope, { to, keep, withKeys });
    const { seq, taken_at, files } = manifest;
    const gone = removed.length > 0 ? `; ${removed.length} older removed` : "";
    const what = `backup ${id} written to ${to} (${formatSize(bytes)})${gone}`;
    return {
      document: { outcome: "written", to, id, taken_at, seq, bytes, files: files.length, removed },
      lines: [`${scope.company.name}: ${what}`],
    };
  });
