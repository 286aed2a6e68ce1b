import { BudgetsTable } from "../postgres/budgets-table.ts";
import { CompaniesTable } from "../postgres/companies-table.ts";
import type { Postgres } from "../postgres/connection.ts";
import { InboxTable } from "../postgres/inbox-table.ts";
import { NodesTable } from "../postgres/nodes-table.ts";
import { OwnersTable } from "../postgres/owners-table.ts";
import { ReceivingTable } from "../postgres/receiving-table.ts";
import { ReportsTable } from "../postgres/reports-table.ts";
import { SnapshotsTable } from "../postgres/snapshots-table.ts";
import { TimelineTable } from "../postgres/timeline-table.ts";

/** All tables of the fleet, on one pool of connections. */
export interface FleetTables {
  readonly budgets: BudgetsTable;
  readonly companies: CompaniesTable;
  readonly inbox: InboxTable;
  readonly nodes: NodesTable;
  readonly owners: OwnersTable;
  readonly receiving: ReceivingTable;
  readonly reports: ReportsTable;
  readonly snapshots: SnapshotsTable;
  readonly timeline: TimelineTable;
}

/** Sends nothing. */
export function fleetTables(postgres: Postgres): FleetTables {
  return {
    budgets: new BudgetsTable(postgres),
    companies: new CompaniesTable(postgres),
    inbox: new InboxTable(postgres),
    nodes: new NodesTable(postgres),
    owners: new OwnersTable(postgres),
    receiving: new ReceivingTable(postgres),
    reports: new ReportsTable(postgres),
    snapshots: new SnapshotsTable(postgres),
    timeline: new TimelineTable(postgres),
  };
}
