import { silentLog } from "../../base/logger.ts";
import type { Manifest } from "../../connector/connector-manifest.ts";
import { ChangeLog } from "../../store/apply/change-log.ts";
import { Fences } from "../../store/apply/fences.ts";
import { Notices } from "../../store/apply/notices.ts";
import { PreviewDifferences } from "../../store/apply/preview-differences.ts";
import { Quarantine } from "../../store/apply/quarantine.ts";
import { ResourceTable } from "../../store/apply/resource-table.ts";
import type { TableContext } from "../../store/apply/table-context.ts";
import { namesWhatIsAbsent, type Db } from "../../store/database.ts";
import { Derivations, derivationVersion } from "../../store/tables/derivations.ts";
import { planWithUnknown } from "../../store/tables/unknown-columns.ts";

/** Opens the tables of all resources for reading; changes nothing, also where the layout is another one. */
export function openTables(db: Db, manifest: Manifest) {
  const context: TableContext = {
    db,
    log: new ChangeLog(db),
    fences: new Fences(),
    quarantine: new Quarantine(db),
    differences: new PreviewDifferences(db),
    notices: new Notices(silentLog),
    sequence: { markStored: () => undefined },
    growth: { tables: new Set(), columns: [] },
  };
  const derivations = new Derivations(db);
  const tables: ResourceTable[] = [];
  /** Resources whose rows cannot be compared with their JSON, and why. */
  const unreadable: { readonly resource: string; readonly why: string }[] = [];
  for (const resource of manifest.resources) {
    try {
      const table = new ResourceTable(context, resource, planWithUnknown(db, resource));
      table.statements.assertComplete();
      if (derivations.isCurrent(resource.name, derivationVersion(resource))) tables.push(table);
      else unreadable.push({ resource: resource.name, why: otherVersion });
    } catch (error) {
      if (!namesWhatIsAbsent(error)) throw error;
      unreadable.push({ resource: resource.name, why: error.message });
    }
  }
  return { tables, unreadable };
}

const otherVersion = "its rows were made by another version and are not derived again yet";
