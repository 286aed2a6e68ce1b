import path from "node:path";
import { describe, expect } from "vitest";
import type { Mirror } from "../../src/state/mirror.ts";
import { duckRows, duckTypes, exportOf } from "../support/export/export.ts";
import { publish, reading } from "../support/export/published.ts";
import { manifestOf, openShop } from "../support/mirror/mirror.ts";
import { test } from "../support/mirror/shop-test.ts";
import { tempFolder } from "../support/temporary-folder.ts";
import { order } from "../support/mirror/shop-records.ts";
import { put, texts } from "../support/mirror/store.ts";

const manifest = manifestOf();

type Seen = readonly [values: readonly string[], report: string, parquet: string, csv: string[] | null];

const withField = (id: number, text: string) => `{"id":${id},"name":"n","email":null,"score":null,${text}}`;

/** Gives people the field `size` with these JSON values, one record each. */
function sizes(mirror: Mirror, values: readonly string[], from = 1): void {
  for (const [i, value] of values.entries()) put(mirror, "people", withField(from + i, `"size":${value}`));
}

/** The type of the column in a report. */
const typeIn = (report: string): unknown =>
  reading(report).prepare("SELECT type FROM pragma_table_info('people') WHERE name = 'size'").pluck().get();

describe("a field that the connector does not know has the type of what was seen, and CSV the service's literal", () => {
  const seen: readonly Seen[] = [
    [["1", "9007199254740993", "null"], "INTEGER", "BIGINT", ["1", "9007199254740993", ""]],
    [["1", "2.5", "-0.75"], "DECIMAL(18,6)", "DECIMAL(18,6)", null],
    [["9223372036854775807", "0.5"], "DECIMAL(18,6)", "DECIMAL(38,18)", null],
    [["1e300", "0.5"], "DECIMAL(18,6)", "DOUBLE", [`1${"0".repeat(300)}`, "0.5"]],
    [["true", "false"], "BOOLEAN", "BOOLEAN", null],
    [["true", "2"], "INTEGER", "BIGINT", ["1", "2"]],
    [['"2026-03-01"', '"2028-02-29"'], "DATE", "DATE", ["2026-03-01", "2028-02-29"]],
    [
      ['"2026-03-01 12:00:00"', '"2026-03-01T12:00:00.5Z"'],
      "TIMESTAMP",
      "TIMESTAMP WITH TIME ZONE",
      ["2026-03-01 12:00:00", "2026-03-01T12:00:00.5Z"],
    ],
    [['"2026-03-01"', '"2026-02-30"'], "TEXT", "VARCHAR", ["2026-03-01", "2026-02-30"]],
    [['"2026-03-01"', '"2026-03-01 12:00:00"'], "TEXT", "VARCHAR", ["2026-03-01", "2026-03-01 12:00:00"]],
    [['"007"', '"12"'], "TEXT", "VARCHAR", ["007", "12"]],
    [["12", '"12"'], "TEXT", "VARCHAR", ["12", "12"]],
    [["1.5", "0.12345678901234567890"], "TEXT", "VARCHAR", ["1.5", "0.12345678901234567890"]],
    [["12345678901234567890123", "1"], "TEXT", "VARCHAR", ["12345678901234567890123", "1"]],
    [["[1]", "{}"], "TEXT", "VARCHAR", ["[1]", "{}"]],
    [["null", "null"], "TEXT", "VARCHAR", ["", ""]],
  ];

  test("whatever was seen of it", async ({ mirror }) => {
    for (const at of [0, 1, 2]) {
      const fields = seen.map(([values], i) => `"f${i}":${values[at] ?? "null"}`);
      put(mirror, "people", withField(at + 1, fields.join()));
    }
    const { file } = await publish(mirror, { manifest, report: `${mirror.db.name}.report` });
    const types = reading(file).prepare("SELECT name, type FROM pragma_table_info('people')").raw();
    const inReport = new Map(types.all() as [string, string][]);
    const { out } = await exportOf(mirror, { format: "parquet", tables: ["people"] });
    const parquetFile = path.join(out, "acme/people.parquet");
    const inParquet = await duckTypes(parquetFile);
    const names = seen.map((_, i) => `f${i}`);
    const [counts] = await duckRows(
      `SELECT ${names.map((name) => `count(${name})`).join()} FROM '${parquetFile}'`,
    );
    const lines = (await exportOf(mirror, { tables: ["people"] })).cells("people.csv").slice(1);
    for (const [i, [values, report, parquet, csv]] of seen.entries()) {
      const cells = lines.slice(0, values.length).map((line) => line[i + 4]);
      const count = String(values.filter((one) => one !== "null").length);
      expect([values, inReport.get(`f${i}`), inParquet[i + 4], counts?.[i], cells]).toEqual([
        values,
        report,
        `f${i} ${parquet}`,
        count,
        csv ?? values,
      ]);
    }
  });

  test("in lines of a document too, nested or not", async ({ mirror }) => {
    const lines = [
      { id: 5, title: "a", quantity: 1, weight: 2 },
      { id: 6, title: "b", quantity: 1, weight: 2.5 },
    ];
    put(mirror, "orders", order(1, { lines }));
    const flat = await exportOf(mirror, { format: "parquet", tables: ["order_lines"] });
    const weight = "weight DECIMAL(18,6)";
    expect(await duckTypes(path.join(flat.out, "acme/order_lines.parquet"))).toContain(weight);
    const nested = await exportOf(mirror, { format: "parquet", tables: ["orders"], nested: true });
    const types = await duckTypes(path.join(nested.out, "acme/orders.parquet"));
    expect(types.find((type) => type.startsWith("order_lines"))).toContain(weight);
  });
});

describe("a type that changes", () => {
  test("widens, is kept in the mirror, and an update of the report becomes one made anew", async () => {
    const file = path.join(tempFolder(), "shop.db");
    const first = await openShop({ path: file });
    sizes(first, ["1"]);
    const report = `${file}.report`;
    await publish(first, { manifest, report });
    const steps: unknown[] = [];
    first.close();
    for (const [i, value] of ["2.5", "3", '"x"', "4", "true"].entries()) {
      const mirror = await openShop({ path: file });
      sizes(mirror, [value], i + 2);
      const { way } = await publish(mirror, { manifest, report, way: "changes" });
      steps.push([value, way, typeIn(report)]);
      mirror.close();
    }
    expect(steps).toEqual([
      ["2.5", "anew", "DECIMAL(18,6)"],
      ["3", "changes", "DECIMAL(18,6)"],
      ['"x"', "anew", "TEXT"],
      ["4", "changes", "TEXT"],
      ["true", "changes", "TEXT"],
    ]);
    const last = await openShop({ path: file });
    expect(texts(last, "SELECT what, type, record_id FROM _schema_changes ORDER BY id")).toEqual([
      "added text 1",
      "decimal decimal 2",
      "text text 4",
    ]);
    expect(texts(last, "SELECT size, typeof(size) AS type FROM people WHERE id < 4 ORDER BY id")).toEqual([
      "1 integer",
      "2.5 real",
      "3 integer",
    ]);
  });

  // Fault: data | an answer with a value of another type is rolled back | the transaction that widens the type | the type is as before; the next time it widens again (I1)
  test("I1 is as before after a rollback, and widens the next time", async ({ mirror }) => {
    sizes(mirror, ["1"]);
    expect(() =>
      mirror.apply(() => {
        sizes(mirror, ['"x"'], 2);
        throw new Error("the power went");
      }),
    ).toThrow("the power went");
    const report = `${mirror.db.name}.report`;
    await publish(mirror, { manifest, report });
    expect(typeIn(report)).toBe("INTEGER");
    sizes(mirror, ['"x"'], 2);
    await publish(mirror, { manifest, report });
    expect(typeIn(report)).toBe("TEXT");
  });
});
