import { collections, type TableName } from "../model/catalogue.ts";
import type { Company } from "./company-state.ts";

type Change = "created" | "updated" | "deleted" | "paid" | "stock-updated";

/** One fact of the catalogue, after the change it tells of. */
export function emit(company: Company, table: TableName, change: Change, id: number): void {
  const { path, type } = collections[table];
  company.events.append(`${path}.${change}`, type, id);
}
