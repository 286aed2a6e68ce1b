import type { Manifest } from "../../connector/connector-manifest.ts";
import type { Resource } from "../../connector/resource.ts";
import { ChangeLog } from "../../store/apply/change-log.ts";
import { Fences } from "../../store/apply/fences.ts";
import { PreviewDifferences } from "../../store/apply/preview-differences.ts";
import { Quarantine } from "../../store/apply/quarantine.ts";
import { ResourceTable } from "../../store/apply/resource-table.ts";
import type { TableContext } from "../../store/apply/table-context.ts";
import type { Db } from "../../store/database.ts";
import { Derivations, derivationVersion } from "../../store/tables/derivations.ts";
import { columnNames, dataColumns, fenceTable, rawTable } from "../../store/tables/table-layout.ts";
import { planTable, type TablePlan } from "../../store/tables/table-plan.ts";
import { restoreUnknownColumns } from "../../store/tables/unknown-columns.ts";

/** A resource whose rows cannot be compared with their JSON, and why. */
interface UnreadableTable {
  readonly resource: string;
  readonly why: string;
}

/** The tables of a mirror as they are, on a connection that only reads. */
export interface OpenTables {
  readonly tables: readonly ResourceTable[];
  readonly unreadable: readonly UnreadableTable[];
}

/** Opens the tables of all resources for reading; changes nothing, also where the layout is another one. */
export function openTables(db: Db, manifest: Manifest): OpenTables {
  const context: TableContext = {
    db,
    log: new ChangeLog(db),
    fences: new Fences(),
    quarantine: new Quarantine(db),
    differences: new PreviewDifferences(db),
    notices: {},
    sequence: { markStored: () => undefined },
    growth: { tables: new Set(), columns: [] },
  };
  const derivations = new Derivations(db);
  const tables: ResourceTable[] = [];
  const unreadable: UnreadableTable[] = [];
  for (const resource of manifest.resources) {
    const plan = planTable(resource);
    restoreUnknownColumns(db, plan);
    const why = whyUnreadable(db, derivations, resource, plan);
    if (why === null) tables.push(new ResourceTable(context, resource, plan));
    else unreadable.push({ resource: resource.name, why });
  }
  return { tables, unreadable };
}

function whyUnreadable(db: Db, derivations: Derivations, resource: Resource, plan: TablePlan): string | null {
  const expected: [string, string[]][] = [
    [
      plan.table,
      ["id", "_deleted_at", "_synced_at", "_detail_at", ...dataColumns(plan).map(({ name }) => name)],
    ],
    [rawTable(plan.table), ["id", "json"]],
    [
      fenceTable(plan.table),
      ["id", "sha", "listed_sha", "source", "received_seq", "read_at", "last_change", "gone"],
    ],
    ...plan.children.map((child): [string, string[]] => [
      child.table,
      [child.parentKey, "position", ...child.columns.map(({ name }) => name)],
    ]),
  ];
  for (const [table, names] of expected) {
    const present = columnNames(db, table);
    if (present.size === 0) return `the table ${table} is not there`;
    const absent = names.find((name) => !present.has(name.toLowerCase()));
    if (absent !== undefined) return `the column ${table}.${absent} is not there`;
  }
  const isCurrent = derivations.isCurrent(resource.name, derivationVersion(resource));
  return isCurrent ? null : "its rows were made by another version and are not derived again yet";
}
