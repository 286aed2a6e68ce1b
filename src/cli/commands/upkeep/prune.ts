import { formatCount, formatSize } from "../../../base/units.ts";
import { askDaemon, reportIn } from "../../../daemon/commands/ask-daemon.ts";
import { createNotices } from "../../../runs/store-notices.ts";
import { openMirror } from "../../../state/mirror.ts";
import { pruneMirror, type PruneReport } from "../../../state/retention/prune-mirror.ts";
import { takeWriterLock } from "../../../store/writer-lock.ts";
import { readExisting, type CompanyScope } from "../../mirror/company-scope.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { forEachCompany } from "../../runs/each-company.ts";
import { isDaemonThere } from "../../runs/remote-sync.ts";

/** Prunes the mirror of each company: the daemon that holds it does it, else this process. */
export const pruneCommand: CommandRun<"prune"> = (context, { options, loaded: { config } }) =>
  forEachCompany(context, config, async (scope) => {
    const report = await (options.dryRun ? tryOut(scope) : prune(scope));
    const outcome = report.finished ? "complete" : "interrupted";
    return { document: report, lines: linesOf(scope.company.name, report), outcome };
  });

function tryOut(scope: CompanyScope): Promise<PruneReport> {
  const { retention } = scope.config;
  const { clock, signal } = scope.context;
  return readExisting(scope, (db) => pruneMirror({ db, retention, clock, signal, dryRun: true }));
}

async function prune(scope: CompanyScope): Promise<PruneReport> {
  // There must be a mirror: opening one for writing would make it.
  await readExisting(scope, () => null);
  return isDaemonThere(scope) ? byDaemon(scope) : byThisProcess(scope);
}

/** Throws as `reportIn`. */
async function byDaemon(scope: CompanyScope): Promise<PruneReport> {
  const { signal, log } = scope.context;
  log.info(`${scope.company.name}: the daemon holds the mirror and prunes it, by the config that it has`);
  return reportIn(await askDaemon(scope.files.socket, { kind: "prune", options: {} }, signal)) as PruneReport;
}

/** Throws MirrorError `locked` while another process writes the mirror. */
async function byThisProcess(scope: CompanyScope): Promise<PruneReport> {
  const { context, manifest, config, files } = scope;
  const lock = takeWriterLock(files.lock, "prune");
  try {
    const mirror = await openMirror(files.mirror, manifest, createNotices(context.log).store, {
      ...context,
      lock,
    });
    try {
      return await pruneMirror({ ...context, db: mirror.db, retention: config.retention });
    } finally {
      mirror.close();
    }
  } finally {
    lock.release();
  }
}

function linesOf(company: string, report: PruneReport): string[] {
  const { dry_run, finished, runs, inbox_bodies, changes, released_bytes } = report;
  const parts = [
    counted("run", runs),
    counted("event body", inbox_bodies),
    `${counted("change", changes)}, the log begins at seq ${changes.first_seq}`,
  ];
  const space = dry_run ? "" : `; gave back ${formatSize(released_bytes)}`;
  const cut = finished ? "" : " (interrupted: run it again)";
  return [`${company}: ${dry_run ? "would remove" : "removed"} ${parts.join("; ")}${space}${cut}`];
}

function counted(what: string, { rows, bytes }: { readonly rows: number; readonly bytes: number }): string {
  const many = what.endsWith("y") ? `${what.slice(0, -1)}ies` : `${what}s`;
  return `${formatCount(rows)} ${rows === 1 ? what : many} (${formatSize(bytes)})`;
}
