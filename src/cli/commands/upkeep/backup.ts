import { existsSync, statSync } from "node:fs";
import path from "node:path";
import { makeBackup } from "../../../backup/make-backup.ts";
import { mirrorCopy, restoreBackup } from "../../../backup/restore-backup.ts";
import { idOfBackup } from "../../../backup/stored-backups.ts";
import { isoTime } from "../../../base/clock.ts";
import { MirrorError } from "../../../base/errors.ts";
import { someOf } from "../../../base/names.ts";
import { formatSize } from "../../../base/units.ts";
import { chosenCompanies } from "../../../config/companies.ts";
import { openStore } from "../../../file-store/open-store.ts";
import { backupStep } from "../../../status/after-run-record.ts";
import type { CompanyScope } from "../../mirror/company-scope.ts";
import type { CommandOptions, CommandRun } from "../../program/command-table.ts";
import { storeOfFiles } from "./files.ts";
import { forEachCompany, recorded, type CompanyResult } from "../../runs/each-company.ts";

export const backupCommand: CommandRun<"backup"> = (context, { options, config }) =>
  forEachCompany(context, config, async (scope) => backupCompany(scope, options));

/** Makes a backup of one company. Only the config's own place is tidied by the config's `keep`. */
export function backupCompany(
  scope: CompanyScope,
  { to: given, keep: most, keys = true }: Partial<CommandOptions<"backup">> = {},
): Promise<CompanyResult> {
  const { context, config, company, files } = scope;
  const { clock, version, signal } = context;
  const to = addressOfBackups(scope, given);
  const keep = most ?? (given === undefined ? config.backup.keep : null);
  const keyPlaces = keys && config.backup.keys ? company.webhook.places : null;
  // Elsewhere it stands for none of the config's, and is not asked for again.
  const isElsewhere = config.backup.to !== null && to !== config.backup.to;
  const make = async () => {
    const store = openStore(to, context, 0o600);
    const parts = { keyPlaces, store, contents: storeOfFiles(scope), keep, clock, version, signal };
    const { id, ids, manifest, removed } = await context.showing((show) => {
      show(() => `${company.name}: copying the mirror`);
      const onFile = (file: string, done: number) =>
        show(() => `${company.name}: storing file ${done + 1}: ${file}`);
      return makeBackup(company.name, files, { ...parts, onFile });
    });
    warnOfFuture(scope, ids);
    const { seq, taken_at } = manifest;
    const bytes = manifest.files.reduce((sum, { size_bytes: size }) => sum + size, 0);
    const gone = removed.length > 0 ? `; ${removed.length} older removed` : "";
    return {
      seq,
      document: { outcome: "written", to, id, taken_at, seq, bytes, files: manifest.files.length, removed },
      lines: [`${company.name}: backup ${id} written to ${to} (${formatSize(bytes)})${gone}`],
    };
  };
  return isElsewhere ? make() : recorded(scope, backupStep, make);
}

/** Where backups are, as the command line or else the config says. Throws MirrorError `usage` where neither does. */
function addressOfBackups({ context, config }: CompanyScope, given: string | undefined): string {
  const address = given ?? config.backup.to;
  if (address === null || address === "")
    throw new MirrorError("usage", "nobody says where backups are", {
      hint: "Name a folder or s3://BUCKET/PREFIX, here or as `backup: { to: … }` in the config.",
    });
  return address.startsWith("s3://") ? address : path.resolve(context.cwd, address);
}

function warnOfFuture({ context, company }: CompanyScope, names: readonly string[]): void {
  const now = idOfBackup(isoTime(context.clock.nowMs()));
  const ahead = names.filter((name) => name > now);
  if (ahead.length === 0) return;
  context.log.warn(`${company.name}: backups with a name in the future: ${someOf(ahead, 3)}`, {
    hint: "The clock was ahead when they were made, or is behind now. Which backup is the newest is decided by their manifests.",
  });
}

export const restoreCommand: CommandRun<"restore"> = (context, { options, config }) => {
  const anyName = chosenCompanies(config, context.globals.company).length === 1;
  return forEachCompany(context, config, async (scope) => {
    const { declaration, files } = scope;
    const { name: company, webhook } = scope.company;
    const { clock, signal } = context;
    const from = addressOfBackups(scope, options.from);
    const isFile = statSync(from, { throwIfNoEntry: false })?.isFile() ?? false;
    const store = isFile ? mirrorCopy(from) : openStore(from, context);
    const asked = { company, keyPlaces: webhook.places, id: options.at ?? null, anyName };
    const { id, ids, replaced, backup } = await context.showing((show) => {
      const onFile = (file: string, done: number, of: number) =>
        show(() => `${company}: fetching file ${done + 1} of ${of}: ${file}`);
      return restoreBackup(files, { ...asked, declaration, store, clock, signal }, onFile);
    });
    warnOfFuture(scope, ids);
    const { taken_at, seq } = backup;
    const missing_keys = webhook.places.flatMap((key) =>
      key.kind === "file" && !existsSync(key.path) ? [key.path] : [],
    );
    const what = `restored from backup ${id} in ${from}${replaced ? ", over the mirror that was there" : ""}`;
    return {
      document: { outcome: "restored", from, id, taken_at, seq, replaced, missing_keys },
      lines: [
        `${company}: ${what}`,
        ...missing_keys.map((file) => `  The backup has no webhook secret for ${file}: ${getAnother}`),
        "  The next run lists everything; serve makes it at once. `fintoro-mirror sync --full` also reads every detail.",
      ],
    };
  });
};

const getAnother =
  "put it there, or have the service make another: `fintoro-mirror webhooks list`, then `webhooks rotate ID`";
