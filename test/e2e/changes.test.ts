import { expect, test } from "vitest";
import { aMirroredCompany, sync } from "../support/company/company.ts";
import {
  count,
  expectEqual,
  expectReplayable,
  expectTombstonesTrue,
  lastId,
  look,
} from "../support/truth/equal.ts";

const deleted = [
  "clients",
  "suppliers",
  "price_list_items",
  "business_cases",
  "webhook_subscriptions",
] as const;

test("records that are made, changed and deleted between two runs are mirrored with the next, each change with one row in the change log (I2)", async () => {
  const company = await aMirroredCompany();
  const { control } = company.sandbox;
  const item = { unitId: 1, unitPrice: 1, vatRate: 23, useWarehouse: false };
  control.create("price_list_items", { name: "Short-lived", ...item });
  await sync(company);
  const lives = () =>
    deleted.map((table) => count(company.file, `SELECT count(*) FROM "${table}" WHERE _deleted_at IS NULL`));
  const [before, seq] = [lives(), count(company.file, "SELECT max(seq) FROM _changes")];
  for (const table of deleted) control.remove(table, lastId(company, table));
  control.create("business_case_statuses", { name: "=Hotovo 🌲", color: "#00ff00" });
  control.alter("orders", lastId(company, "orders"), { issueDate: "2026-11-19" });
  expect(await sync(company)).toMatchObject({ outcome: "complete", troubles: [] });
  expectEqual(company);
  expectTombstonesTrue(company);
  expectReplayable(company);
  expect(lives()).toEqual(before.map((live) => live - 1));
  const sql = "SELECT resource, op, count(*) FROM _changes WHERE seq > ? GROUP BY resource, record_id, op";
  const changes = look(company.file, (db) => db.prepare(sql).raw().all(seq)) as [string, string, number][];
  expect(changes).toEqual(
    expect.arrayContaining([
      ["business_case_statuses", "insert", 1],
      ["orders", "update", 1],
      ...deleted.map((table) => [table, "delete", 1]),
    ]),
  );
});
