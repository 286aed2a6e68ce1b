import path from "node:path";
import { describe, expect, test } from "vitest";
import { duckRows, duckTypes, exportOf, orderRecord } from "../support/export/export.ts";
import { openHasty } from "../support/mirror/mirror.ts";
import { putAs } from "../support/mirror/store.ts";
import type { Mirror } from "../../src/state/mirror.ts";

async function parquetOf(mirror: Mirror, table: string, nested = false): Promise<string> {
  const { out } = await exportOf(mirror, { format: "parquet", tables: [table], nested });
  return path.join(out, "acme", `${table}.parquet`);
}

describe("types", () => {
  test("BIGINT, DECIMAL, BOOLEAN, DATE, TIMESTAMP in UTC and VARCHAR, also of a table without rows", async () => {
    const file = await parquetOf(await openHasty(), "orders");
    const dates = ["issued_on DATE", "changed_at TIMESTAMP WITH TIME ZONE"];
    const first = ["id BIGINT", "number VARCHAR", "total DECIMAL(18,6)", "paid BOOLEAN", ...dates];
    const more = ["extra VARCHAR", "colour_id BIGINT", "buyer_name VARCHAR"];
    expect((await duckTypes(file)).slice(0, 9)).toEqual([...first, ...more]);
    expect(await duckRows(`SELECT * FROM '${file}'`)).toEqual([]);
  });

  // Fault: data | an amount with more digits than its column's type | cells of Parquet | a wider type in this export
  test("an amount with more digits gives its column a wider DECIMAL in this export, one that no DECIMAL can hold DOUBLE", async () => {
    const mirror = await openHasty();
    putAs(mirror, "orders", 1, orderRecord(1, { total: 0.1 + 0.2 }));
    putAs(mirror, "orders", 2, orderRecord(2, { total: -123456789012.34 }));
    const wide = await parquetOf(mirror, "orders");
    expect(await duckTypes(wide)).toContain("total DECIMAL(38,18)");
    const totals = await duckRows(`SELECT total FROM '${wide}' ORDER BY id`);
    expect(totals).toEqual([["0.300000000000000040"], ["-123456789012.340000000000000000"]]);
    putAs(mirror, "orders", 3, orderRecord(3, { total: 1e300 }));
    const widest = await parquetOf(mirror, "orders");
    expect(await duckTypes(widest)).toContain("total DOUBLE");
    const doubles = await duckRows(`SELECT total FROM '${widest}' WHERE id > 1 ORDER BY id`);
    expect(doubles).toEqual([["-123456789012.34"], ["1e+300"]]);
  });

  // Fault: data | a text that is no date in a date column | cells of Parquet | the column is text in this export
  test.each(["yesterday", "1772366400"])(
    "%s, no date or time, makes its column VARCHAR",
    async (changedAt) => {
      const mirror = await openHasty();
      putAs(mirror, "orders", 1, orderRecord(1, { issuedOn: "2026-02-30", changedAt }));
      putAs(mirror, "orders", 2, orderRecord(2, { issuedOn: "2026-02-28" }));
      const file = await parquetOf(mirror, "orders");
      expect(await duckRows(`SELECT issued_on, changed_at FROM '${file}' ORDER BY id`)).toEqual([
        ["2026-02-30", changedAt],
        ["2026-02-28", "2026-03-01T12:00:00+01:00"],
      ]);
    },
  );
});

test("row groups hold 20,000 rows at most, with min, max and null count for each column", async () => {
  const mirror = await openHasty();
  mirror.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45000)
      INSERT INTO orders (id, number, total, issued_on, remark, _synced_at)
      SELECT i, 'no ' || i, i / 4.0, date('2020-01-01', '+' || (i / 100) || ' days'), CASE WHEN i % 3 = 0 THEN 'x' END, '' FROM n`);
  const file = await parquetOf(mirror, "orders");
  const groups = `SELECT DISTINCT row_group_id, row_group_num_rows FROM parquet_metadata('${file}') ORDER BY 1`;
  expect((await duckRows(groups)).flat()).toEqual(["0", "20000", "1", "20000", "2", "5000"]);
  const facts =
    await duckRows(`SELECT path_in_schema, row_group_id, stats_min_value, stats_max_value, stats_null_count, compression
      FROM parquet_metadata('${file}') WHERE path_in_schema IN ('id', 'total', 'issued_on', 'remark') AND row_group_id = 1`);
  expect(facts).toEqual([
    ["id", "1", "20001", "40000", "0", "ZSTD"],
    ["total", "1", "5000.250000", "10000.000000", "0", "ZSTD"],
    ["issued_on", "1", "2020-07-19", "2021-02-04", "0", "ZSTD"],
    ["remark", "1", "x", "x", "13333", "ZSTD"],
  ]);
  const all = `SELECT count(*), sum(total), count(DISTINCT number), count(remark), sum(id * (CASE WHEN number = 'no ' || id THEN 1 END)) FROM '${file}'`;
  expect(await duckRows(all)).toEqual([["45000", "253130625.000000", "45000", "15000", "1012522500"]]);
});

test("the file's metadata has comments on columns and the state of the mirror", async () => {
  const mirror = await openHasty();
  putAs(mirror, "orders", 1, orderRecord(1));
  const file = await parquetOf(mirror, "orders");
  const pairs = await duckRows(`SELECT decode(key), decode(value) FROM parquet_kv_metadata('${file}')`);
  const facts = Object.fromEntries(pairs) as Record<string, string>;
  expect(facts).toMatchObject({ company: "acme", table: "orders", title: "Orders", seq: "1" });
  expect(JSON.parse(facts["column_comments"] ?? "")).toMatchObject({ id: "The record's id in the service." });
});

describe("nested", () => {
  test("child rows are a list of structs in their parent's row, in order and with types", async () => {
    const mirror = await openHasty();
    const second = { id: 8, title: null, quantity: null };
    const lines = [{ id: 7, title: "first", quantity: 0.5 }, second];
    putAs(mirror, "orders", 1, orderRecord(1, { lines }));
    putAs(mirror, "orders", 2, orderRecord(2));
    putAs(mirror, "orders", 3, orderRecord(3, { lines: [{ id: 9, title: 'ž "', quantity: 0.1 + 0.2 }] }));
    const file = await parquetOf(mirror, "orders", true);
    const type = "order_lines STRUCT(id BIGINT, title VARCHAR, quantity DECIMAL(38,18))[]";
    expect((await duckTypes(file)).at(-1)).toBe(type);
    const sql = `SELECT id, l.id, l.title, l.quantity FROM (SELECT id, unnest(order_lines) AS l FROM '${file}') ORDER BY 1, 2`;
    expect(await duckRows(sql)).toEqual([
      ["1", "7", "first", "0.500000000000000000"],
      ["1", "8", null, null],
      ["3", "9", 'ž "', "0.300000000000000040"],
    ]);
    expect(await duckRows(`SELECT len(order_lines) FROM '${file}'`)).toEqual([["2"], ["0"], ["1"]]);
  });

  test("child tables have no files of their own, unless named", async () => {
    const mirror = await openHasty();
    const { files } = await exportOf(mirror, { format: "parquet", nested: true });
    expect(files).toContain("acme/orders.parquet");
    expect(files).not.toContain("acme/order_lines.parquet");
  });
});
