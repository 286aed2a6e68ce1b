import { existsSync } from "node:fs";
import { counted, formatCount, formatSize } from "../../../base/units.ts";
import { openStore } from "../../../file-store/open-store.ts";
import { checkArchive } from "../../../files/check-archive.ts";
import { contentsAddress } from "../../../files/published-files.ts";
import { SnapshotsTable } from "../../../fleet/postgres/tables/snapshots-table.ts";
import { MirrorSnapshots } from "../../../fleet/snapshot/mirror-snapshots.ts";
import { StoredFiles } from "../../../state/files/stored-files.ts";
import { readArchivePosition } from "../../../state/meta.ts";
import { settingsOf } from "../../../store/mirror-files.ts";
import { readMirror, type CompanyScope } from "../../mirror/company-scope.ts";
import { withScratchFolder } from "../../mirror/as-of.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { forEachCompany, type CompanyResult } from "../../runs/each-company.ts";
import { storeOfFiles } from "../upkeep/files.ts";
import { fleetOf, withPostgres } from "./open-fleet.ts";

export const filesCheckCommand: CommandRun<"files check"> = (context, { config }) =>
  forEachCompany(
    context,
    config,
    async (scope) => {
      // The mirror of a company of the fleet is where no command finds it.
      if (!config.fleet || existsSync(scope.files.mirror)) return checkFiles(scope);
      return (await withPublished(scope, checkFiles)) ?? checkFiles(scope);
    },
    { failed: { match: false } },
  );

async function checkFiles(scope: CompanyScope): Promise<CompanyResult> {
  const { context, files } = scope;
  const { name } = scope.company;
  const mirror = await readMirror(
    scope,
    (db) => db && { position: readArchivePosition(db), files: new StoredFiles(db).all() },
  );
  const store = storeOfFiles(scope);
  const check = await context.showing((show) => {
    show(() => `${name}: checking files`);
    const onProgress = (bytes: number) => show(() => `${name}: checked ${formatSize(bytes)}`);
    return checkArchive({ folder: files.folder, store, mirror, signal: context.signal, onProgress });
  });
  const { match, damaged, contents, bytes, lines, head } = check;
  const outcome = match ? "complete" : "difference";
  const none = `${name}: no files yet in ${files.folder}; \`fintoro-mirror files\` fetches them`;
  if (match && lines === 0) return { outcome, document: check, lines: [none] };
  const verdict = match
    ? counted(check.files, "file is whole", "files are whole")
    : `${counted(check.files, "file")} checked, damaged in ${counted(damaged.length, "place")}`;
  const facts = `${formatCount(contents)} contents, ${formatSize(bytes)}, ${formatCount(lines)} lines of the manifest, the last ${head}`;
  const remedy = store
    ? `  bring these files back in ${store.address}, from a backup or an earlier version of the bucket`
    : "  remove a damaged file, or restore it: `fintoro-mirror files` fetches again what is missing";
  return {
    outcome,
    document: check,
    lines: [
      `${name}: ${verdict} (${facts})`,
      ...damaged.map(({ path: file, problem, message }) => `  ${problem} ${file}: ${message}`),
      ...(match ? [] : [remedy]),
    ],
  };
}

/**
 * Runs `work` on the published mirror of a company of the fleet, in a folder that is gone afterwards; gives null where none
 * is published.
 *
 * @throws MirrorError as `withPostgres` and `MirrorSnapshots.restore`
 */
function withPublished<T>(scope: CompanyScope, work: (scope: CompanyScope) => Promise<T>): Promise<T | null> {
  const { context, config, company } = scope;
  const { clock, log, version, signal } = context;
  const { snapshots: address } = fleetOf(config);
  return withPostgres(context, config, async (postgres) => {
    const snapshots = new SnapshotsTable(postgres);
    const pointer = await snapshots.current(company.name);
    if (!pointer) return null;
    const store = openStore(address, context);
    const stored = new MirrorSnapshots({ store, snapshots, clock, log, version });
    return withScratchFolder(scope, "snapshot", async (dataDir) => {
      const place = { ...config.files, store: contentsAddress(address, company.name) };
      const own = settingsOf({ ...config, dataDir, files: place }, company, scope.declaration);
      await stored.restore(pointer, own.files, signal);
      return work({ ...scope, ...own });
    });
  });
}
