import { expect, test } from "vitest";
import { manifest } from "../../connectors/fintoro/manifest.ts";
import { silentLog } from "../../src/base/logger.ts";
import { openDatabase } from "../../src/store/database.ts";
import { verifyLocally } from "../../src/verify/local/repair-locally.ts";
import { aCompany, sync, type Company } from "../support/company/company.ts";
import { expectEqual, expectReplayable } from "../support/truth/equal.ts";
import { localDamage } from "../support/mirror/local-check.ts";
import { stillClock } from "../support/mirror/run.ts";

/** Damages a synced mirror with SQL. */
function wound({ file }: Company, sql: string): void {
  const db = openDatabase(file);
  db.exec(sql);
  db.close();
}

function repaired({ file }: Company) {
  return verifyLocally(file, manifest, { repair: true, clock: stillClock, log: silentLog });
}

const first = (table: string) => `(SELECT min(id) FROM ${table} WHERE _deleted_at IS NULL)`;

test("wounds in a company's mirror are healed without a request, and the mirror equals the service again (I11)", async () => {
  const company = await aCompany();
  await sync(company, { full: true, parentsPerRun: "all" });
  expect(await localDamage(company)).toEqual([]);
  const requests = company.sandbox.requests().length;
  wound(
    company,
    `UPDATE invoices SET total = total + 1 WHERE id = ${first("invoices")};
     DELETE FROM clients WHERE id = ${first("clients")};
     DELETE FROM invoice_items WHERE position = 0;
     UPDATE document_payments SET document_id = document_id + 1000000;
     DELETE FROM _fence_orders WHERE id = ${first("orders")};
     UPDATE price_list_item_stocks SET position = position + 5`,
  );
  const { found, result } = await repaired(company);
  for (const table of ["invoices", "clients", "orders", "price_list_items"])
    expect(found.resources[table], table).not.toMatchObject({ missing: [], extra: [], different: [] });
  expect(result).toMatchObject({ match: true });
  expect(company.sandbox.requests()).toHaveLength(requests);
  expectEqual(company);
  expectReplayable(company);
});

test("JSON that is lost or wrong is queued, and the next run heals it, whatever the kind of the resource", async () => {
  const company = await aCompany();
  await sync(company, { full: true, parentsPerRun: "all" });
  wound(
    company,
    `UPDATE _raw_invoices SET json = replace(json, '"id"', '"ID"') WHERE id = ${first("invoices")};
     DELETE FROM _raw_clients WHERE id = ${first("clients")};
     UPDATE _raw_document_payments SET json = '{}' WHERE id = ${first("document_payments")};
     UPDATE _raw_banks SET json = '{}' WHERE id = ${first("banks")};
     UPDATE _raw_company SET json = '{}';
     UPDATE _raw_numerical_series SET json = '{}' WHERE id = ${first("numerical_series")};
     UPDATE _raw_price_list_items SET json = '{}' WHERE id = ${first("price_list_items")};
     UPDATE _raw_contact_activity_logs SET json = '{}' WHERE id = ${first("contact_activity_logs")}`,
  );
  const { repair, result } = await repaired(company);
  expect(repair?.queued).toBe(8);
  expect(result.match).toBe(false);
  await sync(company);
  expect(await localDamage(company)).toEqual([]);
  expectEqual(company);
});
