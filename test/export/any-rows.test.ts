import path from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as schema from "../../src/connector/record-schema.ts";
import { decimalText } from "../../src/json/literal.ts";
import { duckRows, duckTypes, exportOf } from "../support/export/export.ts";
import { memoryScratch } from "../support/memory-folder.ts";
import { declarationOf, openHasty, published } from "../support/mirror/mirror.ts";
import { putAs } from "../support/mirror/store.ts";

const { orNull } = schema;
const columns = {
  id: schema.integer(),
  whole: orNull(schema.integer()),
  flag: orNull(schema.boolean()),
  extra: orNull(schema.json(schema.record({}))),
  amount: orNull(schema.decimal()),
  day: orNull(schema.date()),
  moment: orNull(schema.timestamp()),
  note: orNull(schema.text()),
};
const shape = { record: schema.record(columns), list: { kind: "whole", path: "/samples" } } as const;
const declaration = declarationOf([published("samples", "sample", shape, false)]);

/** Few values are odd: one that needs a wider type than its column's usual one widens it for all rows. */
function mostly<T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.option(fc.oneof({ weight: 40, arbitrary: usual }, { weight: 1, arbitrary: odd }));
}

const largest = 2n ** 63n;
const cents = fc.integer({ min: -1e12, max: 1e12 }).map((value) => value / 100);
const days = { min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true };
const time =
  /^(?:0001|1969|2026)-0[1-9]-[12]\d[T ]1\d:[0-5]\d:[0-5]\d(?:\.\d{1,6})?(?:|Z|\+01:00|-12:30|\+0200)$/;
const beginnings = ["\t", "\r", "\n", " ", "=", "+", "-", "@", "＝", "＋", "－", "＠", "'"];
const oddTexts = ["", "\r\n", "\uFEFF", "\u2028", "\u0000", ",", ";", '"', '""', "NULL", "\\N", "1e5", "🐎"];
const sample = fc.record({
  whole: mostly(
    fc.bigInt({ min: -largest, max: largest - 1n }),
    fc.constantFrom(0n, -1n, 2n ** 53n + 1n, largest - 1n, -largest),
  ),
  flag: fc.option(fc.boolean()),
  extra: fc.option(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })),
  amount: mostly(
    fc.oneof(cents, fc.constantFrom(-0, 0.1 + 0.2, 999_999_999_999.999, 1e-6)),
    fc.oneof(
      fc.constantFrom(2 ** 53, 2 ** 62, 1e19, 1e20, 1e-18, 1e-19),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
    ),
  ),
  day: mostly(
    fc.date(days).map((value) => value.toISOString().slice(0, 10)),
    fc.constantFrom("2026-02-30", "0000-01-01", "0000-00-00", "2026-1-1", "", "10000-01-01"),
  ),
  moment: mostly(
    fc.stringMatching(time),
    fc.constantFrom("now", "", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01"),
  ),
  note: fc.option(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.tuple(fc.constantFrom(...beginnings), fc.string()).map(([first, rest]) => first + rest),
      fc.constantFrom(...oddTexts),
      fc.tuple(fc.constantFrom("ž", '"', "\r\n"), fc.nat(30_000)).map(([part, times]) => part.repeat(times)),
    ),
  ),
});
type Sample = typeof sample extends fc.Arbitrary<infer T> ? T : never;

const table = fc.record({
  rows: fc.array(sample, { minLength: 1, maxLength: 40, size: "max" }),
  /** How often all of them are in the table: in few tables so often that it has several row groups. */
  times: fc.oneof({ weight: 20, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(1_100) }),
});
type Table = typeof table extends fc.Arbitrary<infer T> ? T : never;

type Cells = readonly (string | null)[];

async function fileOf(folder: string, { rows, times }: Table, request: Parameters<typeof exportOf>[1]) {
  using mirror = await openHasty({ declaration, path: path.join(folder, "shop.db") });
  for (const [id, { whole, ...row }] of rows.entries()) {
    const rest = JSON.stringify(row).slice(1);
    putAs(mirror, "samples", id, `{"id":${id},"whole":${String(whole)},${rest}`);
  }
  const names = `${Object.keys(columns).slice(1).join()}, _synced_at`;
  mirror.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${times})
    INSERT INTO samples (id, ${names})
    SELECT i * ${rows.length} + id, ${names} FROM samples, n WHERE i < ${times}`);
  const { files } = await exportOf(mirror, { ...request, tables: ["samples"], out: folder });
  return path.join(folder, files[0] ?? "");
}

/** What a reader of the file finds in it, where the last four columns show as `shown`. */
function cellsOf({ rows, times }: Table, shown: (row: Sample) => Cells): Cells[] {
  const once = rows.map((row) => {
    const extra = row.extra && JSON.stringify(row.extra).toWellFormed();
    return [row.whole?.toString() ?? null, row.flag?.toString() ?? null, extra, ...shown(row)];
  });
  return Array.from({ length: rows.length * times }, (_, id) => [
    String(id),
    ...(once[id % once.length] ?? []),
  ]);
}

/** Whatever zeros an amount ends with. */
function exactly(amount: string): string {
  return amount.replace(/(?:[.,]0*|([.,]\d*[1-9])0+)$/, "$1");
}

/** DuckDB's JavaScript binding takes a byte order mark off a text's beginning, so a letter stands before each. */
function marked(note: string | null): string | null {
  return note === null ? null : `x${note.toWellFormed()}`;
}

function asStored(moment: string | null): string | null {
  return moment?.replace(/^(\d{4}-\d\d-\d\d) (?=\d\d:\d\d)/, "$1T") ?? null;
}

/** Microseconds since 1970, counted without a date's own arithmetic of fractions. */
function microsOf(moment: string): string {
  const [, whole = "", fraction = "", zone = ""] = /^([^.]{19})(?:\.(\d+))?(.*)$/.exec(moment) ?? [];
  const ms = Date.parse(asStored(whole) + (zone.replace(/(\d\d)(\d\d)$/, "$1:$2") || "Z"));
  return String(BigInt(ms) * 1000n + BigInt(fraction.padEnd(6, "0")));
}

/** A text that a spreadsheet could run gets one apostrophe, whatever else it begins with. */
function guarded(value: string | null): string | null {
  return value !== null && /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
}

describe("for any rows", () => {
  test.each([
    ["standard", ",", "."],
    ["excel-sk", ";", ","],
  ] as const)(
    "a CSV file (%s) read by DuckDB holds the mirror's texts and numbers, and formulas behind one apostrophe",
    async (dialect, delimiter, mark) => {
      const options = `delim = '${delimiter}', header = true, quote = '"', escape = '"', new_line = '\\r\\n',
        auto_detect = false, allow_quoted_nulls = false, nullstr = '', parallel = false, max_line_size = 10000000`;
      const types = Object.keys(columns).map((name) => `'${name}': 'VARCHAR'`);
      const property = fc.asyncProperty(table, async (given) => {
        using folder = memoryScratch();
        const file = await fileOf(folder.path, given, { format: "csv", dialect });
        const found = await duckRows(`SELECT * REPLACE ('x' || note AS note)
          FROM read_csv('${file}', ${options}, columns = {${types.join()}})`);
        const expected = cellsOf(given, ({ amount, day, moment, note }) => [
          amount === null ? null : decimalText(amount).replace(".", mark),
          guarded(day),
          guarded(asStored(moment)),
          marked(guarded(note)),
        ]);
        expect(found.map((cells) => cells.with(4, cells[4] ? exactly(cells[4]) : null))).toEqual(expected);
      });
      await fc.assert(property, { numRuns: 1 });
    },
  );

  test("a Parquet file read by DuckDB holds the mirror's values", async () => {
    const property = fc.asyncProperty(table, async (given) => {
      using folder = memoryScratch();
      const file = await fileOf(folder.path, given, { format: "parquet" });
      const types = new Map((await duckTypes(file)).map((one) => one.split(/ (.*)/s) as [string, string]));
      const isDouble = types.get("amount") === "DOUBLE";
      const isTime = types.get("moment")?.startsWith("TIMESTAMP") === true;
      const shown = isTime ? "epoch_us(moment)" : "moment";
      const sql = `SELECT * REPLACE (${shown} AS moment, 'x' || note AS note) FROM '${file}'`;
      const found = await duckRows(sql);
      const expected = cellsOf(given, ({ amount, day, moment, note }) => [
        amount === null ? null : decimalText(amount),
        // DuckDB calls the year 0 so.
        day?.replace(/^0000(.*)/, types.get("day") === "DATE" ? "0001$1 (BC)" : "$&") ?? null,
        isTime && moment !== null ? microsOf(moment) : asStored(moment),
        marked(note),
      ]);
      const amountOf = (cell: string) => (isDouble ? decimalText(Number(cell)) : exactly(cell));
      expect(found.map((cells) => cells.with(4, cells[4] ? amountOf(cells[4]) : null))).toEqual(expected);
    });
    await fc.assert(property, { numRuns: 2 });
  });
});
