import type { ConnectorDeclaration } from "../../connector/connector-declaration.ts";
import { ResourceTable } from "../../store/apply/resource-table.ts";
import { TableContext } from "../../store/apply/table-context.ts";
import { namesWhatIsAbsent, type Db } from "../../store/database.ts";
import { Derivations, derivationVersion } from "../../store/tables/derivations.ts";
import { planWithUnknown } from "../../store/tables/unknown-columns.ts";

/** Opens the tables of all resources for reading; changes nothing, also where the layout is another one. */
export function openTables(db: Db, declaration: ConnectorDeclaration) {
  const context = new TableContext(db);
  const derivations = new Derivations(db);
  const tables: ResourceTable[] = [];
  /** Resources whose rows cannot be compared with their JSON, and why. */
  const unreadable: { readonly resource: string; readonly why: string }[] = [];
  for (const resource of declaration.resources) {
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
