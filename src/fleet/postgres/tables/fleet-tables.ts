import { dayMs } from "../../../base/clock.ts";
import type { Postgres } from "../connection.ts";
import { CompaniesTable } from "./companies-table.ts";
import { InboxTable } from "./inbox-table.ts";
import { NodesTable, ReceivingTable } from "./heartbeats.ts";
import { OwnersTable } from "./owners-table.ts";
import { PackagesTable } from "./packages-table.ts";
import { ReportsTable } from "./reports-table.ts";
import { SnapshotsTable } from "./snapshots-table.ts";
import { TimelineTable } from "./timeline-table.ts";

export type FleetTables = ReturnType<typeof fleetTables>;

/** All tables of the fleet, on one pool of connections. @param reportsKeptMs `fleet.reports_keep` */
export function fleetTables(postgres: Postgres, reportsKeptMs = dayMs) {
  return {
    postgres,
    companies: new CompaniesTable(postgres),
    inbox: new InboxTable(postgres),
    nodes: new NodesTable(postgres),
    owners: new OwnersTable(postgres),
    packages: new PackagesTable(postgres),
    receiving: new ReceivingTable(postgres),
    reports: new ReportsTable(postgres, reportsKeptMs),
    snapshots: new SnapshotsTable(postgres),
    timeline: new TimelineTable(postgres),
  };
}
