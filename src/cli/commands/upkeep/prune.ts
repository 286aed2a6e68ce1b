import { counted, formatSize } from "../../../base/units.ts";
import { askDaemon } from "../../../host/commands.ts";
import { pruneMirror, type PruneReport } from "../../../state/retention/prune-mirror.ts";
import { isDaemonThere, readExisting, writeExisting, type CompanyScope } from "../../mirror/company-scope.ts";
import type { CommandRun } from "../../program/command-table.ts";
import { forEachCompany } from "../../runs/each-company.ts";

export const pruneCommand: CommandRun<"prune"> = (context, { options, config }) =>
  forEachCompany(context, config, async (scope) => {
    const { name } = scope.company;
    const report = await context.showing((show) => {
      show(() => `${name}: going through what is old`);
      return prune(scope, options.dryRun);
    });
    const outcome = report.finished ? "complete" : "interrupted";
    return { document: report, lines: linesOf(name, report), outcome };
  });

/** Throws as `askDaemon`, or MirrorError `locked` while another process writes the mirror. */
async function prune(scope: CompanyScope, dryRun: boolean): Promise<PruneReport> {
  const { context, company, config, files } = scope;
  const { clock, signal } = context;
  const { retention } = config;
  if (dryRun) return readExisting(scope, (db) => pruneMirror({ db, retention, clock, signal, dryRun }));
  if (!isDaemonThere(scope))
    return writeExisting(scope, "prune", ({ db }) => pruneMirror({ db, retention, clock, signal }));
  context.log.info(`${company.name}: the daemon holds the mirror and prunes it, by the config that it has`);
  return (await askDaemon(files.socket, { kind: "prune", options: {} }, signal)) as PruneReport;
}

function linesOf(company: string, report: PruneReport): string[] {
  const { dry_run, finished, runs, inbox_bodies, changes, released_bytes } = report;
  const parts = [
    `${counted(runs.rows, "run")} (${formatSize(runs.bytes)})`,
    `${counted(inbox_bodies.rows, "event body", "event bodies")} (${formatSize(inbox_bodies.bytes)})`,
    `${counted(changes.rows, "change")} (${formatSize(changes.bytes)}), the log begins at seq ${changes.first_seq}`,
  ];
  const space = dry_run ? "" : `; gave back ${formatSize(released_bytes)}`;
  const cut = finished ? "" : " (interrupted: run it again)";
  return [`${company}: ${dry_run ? "would remove" : "removed"} ${parts.join("; ")}${space}${cut}`];
}
