import type { MirrorFiles } from "../../../src/store/mirror-files.ts";
import type { ReportQuestion } from "../../../src/connector/report-view.ts";
import type { Ownership } from "../../../src/fleet/ownership/ownership.ts";
import { publishReports } from "../../../src/fleet/reports/publish-reports.ts";
import { duckRows } from "../export/export.ts";
import { aFileStore } from "../file-store.ts";
import { openFleet } from "./fleet.ts";
import { leaseOf } from "./node.ts";
import { readersOf } from "../docs/docs.ts";

/** Postgres, and where nodes publish reports. */
export async function aReportStore() {
  const fleet = await openFleet();
  const stored = await aFileStore("folder");
  const { signal } = new AbortController();
  const publish = (
    ownership: Ownership,
    files: MirrorFiles,
    schedule: Parameters<typeof publishReports>[1] = { publish: "after_sync" },
    store = stored.store,
    questions: readonly ReportQuestion[] = [],
  ) => publishReports(ownership, schedule, files, store, fleet.reports, signal, questions);
  return {
    ...fleet,
    ...stored,
    publish,
    /** Publishes a company's Parquet files as one more owner; gives the keys of those that were stored. */
    publishParquet: async (company: string, files: MirrorFiles) => {
      const published = await publish(leaseOf(await fleet.owned(company)), files, { publish: null });
      await fleet.expire(company);
      return published?.written ?? [];
    },
    ask: (sql: string) => duckRows(sql, readersOf(stored.folder)),
  };
}
