import type { FileStore } from "../../../file-store/file-store.ts";
import { hintOf, messageOf } from "../../../base/errors.ts";
import { mirrorFiles } from "../../../config/mirror-files.ts";
import { publishReports } from "../../../fleet/reports/publish-reports.ts";
import type { FleetNodeParts } from "../../../fleet/worker/fleet-node.ts";
import type { FleetTables } from "../../../fleet/postgres/tables/fleet-tables.ts";
import type { CommandContext } from "../../program/command.ts";

/** Publishes what was made after a run where readers of all companies find it. A failure is logged. */
export function reportPublisher(
  { clock, log, signal }: CommandContext,
  store: FileStore,
  { reports }: FleetTables,
): FleetNodeParts["publishReport"] {
  return async ({ config, company: { name: company } }, ownership) => {
    const startedMs = clock.monotonicMs();
    const files = mirrorFiles(config, company);
    const { schedule } = config;
    try {
      const published = await publishReports({ ownership, schedule, files, store, reports, signal });
      if (!published) return null;
      const { seq, written, removed, bytes } = published;
      const facts = { seq, files: written.length, removed: removed.length, bytes };
      const ms = Math.round(clock.monotonicMs() - startedMs);
      log.info("reports published", { company, ...facts, ms });
      return null;
    } catch (error) {
      // What lost the company says so once.
      if (!ownership.isHeld()) return null;
      log.error("the reports could not be published", { company, error: messageOf(error), ...hintOf(error) });
      return `it could not be published: ${messageOf(error)}`;
    }
  };
}
