import { openDatabase } from "../../src/store/database.ts";
import type { BenchResult } from "./result.ts";
import { setUpSync } from "./sync-process.ts";

/** The requests of a first run against the fewest that could do. */
export async function benchRequests(): Promise<BenchResult[]> {
  const bench = await setUpSync({ records: 1_000, limit: 1_000_000 });
  try {
    const report = await bench.sync();
    const floor = floorOf(bench.database);
    const again = await bench.sync();
    const lists = report.requests.list + report.requests.child;
    return [
      {
        name: "requests of a first run against the floor",
        ratio: report.requests.total / floor,
        aim: "at most 1",
        detail: `${report.requests.total} requests, the floor is ${floor}`,
      },
      {
        name: "requests of an unchanged run against its lists",
        ratio: again.requests.total / lists,
        aim: "at most 1",
        detail: `${again.requests.total} requests, ${again.requests.detail} of them details`,
      },
    ];
  } finally {
    await bench.close();
  }
}

/** whoami, 8 lookups, 5 series, 6 whole lists, full pages, a detail per document, a list per CRM parent. */
function floorOf(database: string): number {
  const db = openDatabase(database, { readonly: true });
  const count = (table: string) => Number(db.prepare(`SELECT count(*) FROM ${table}`).pluck().get());
  const documents = ["invoices", "credit_notes", "proformas", "orders", "quotations"];
  const paged200 = [
    "business_cases",
    "price_list_items",
    "warehouse_inbound_receipts",
    "warehouse_outbound_receipts",
  ];
  const parents = ["clients", "suppliers", "business_cases"];
  const pages = (tables: readonly string[], perPage: number) =>
    tables.reduce((sum, table) => sum + Math.max(1, Math.ceil(count(table) / perPage)), 0);
  const rows = (tables: readonly string[]) => tables.reduce((sum, table) => sum + count(table), 0);
  const floor =
    1 + 8 + 5 + 6 + pages(documents, 500) + pages(paged200, 200) + rows(documents) + rows(parents);
  db.close();
  return floor;
}
