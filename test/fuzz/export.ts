import assert from "node:assert/strict";
import path from "node:path";
import * as fc from "fast-check";
import type { ExportRequest } from "../../src/export/plan/export-request.ts";
import { openMirror, type Mirror } from "../../src/state/mirror.ts";
import { duckRows, duckTypes, exportOf } from "../support/export/export.ts";
import { ratioOf, sameRatio } from "../support/json/json.ts";
import { declarationOf } from "../support/mirror/mirror.ts";
import { putAs } from "../support/mirror/store.ts";
import { fuzzTarget } from "./fuzz-target.ts";
import { sample, samples, sampleTable, type Sample } from "./sample-table.ts";
import { memoryScratch } from "../support/memory-folder.ts";

/** A new mirror with these records, exported; gone after the check. */
async function withExport(
  rows: readonly Sample[],
  request: Pick<ExportRequest, "format" | "dialect">,
  copies: number,
  check: (file: string) => Promise<void>,
): Promise<void> {
  using folder = memoryScratch();
  const declaration = declarationOf([samples]);
  const mirror = await openMirror(path.join(folder.path, "shop.db"), declaration);
  try {
    fill(mirror, rows, copies);
    await exportOf(mirror, { ...request, tables: ["samples"], out: folder.path });
    await check(path.join(folder.path, "acme", `samples.${request.format}`));
  } finally {
    mirror.close();
  }
}

function fill(mirror: Mirror, rows: readonly Sample[], copies: number): void {
  mirror.db.pragma("synchronous = OFF");
  for (const [i, { whole: big, ...row }] of rows.entries()) {
    const rest = JSON.stringify(row).slice(1);
    putAs(mirror, "samples", i, `{"id":${i},"whole":${String(big)},${rest}`);
  }
  const columns = "whole, amount, flag, day, moment, note, extra, _synced_at";
  mirror.db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${copies})
    INSERT INTO samples (id, ${columns}) SELECT i * ${rows.length} + id, ${columns} FROM samples, n WHERE i < ${copies}`);
}

const parquet = fuzzTarget("export/parquet", 2, sampleTable, async ({ rows, many }) => {
  const copies = rows.length === 0 ? 1 : Math.max(1, Math.ceil(many / rows.length));
  await withExport(rows, { format: "parquet", dialect: "standard" }, copies, (file) =>
    equalInDuck(file, rows, copies),
  );
});

async function equalInDuck(file: string, rows: readonly Sample[], copies: number): Promise<void> {
  const types = new Map((await duckTypes(file)).map((one) => one.split(/ (.*)/s) as [string, string]));
  const isTime = types.get("moment")?.startsWith("TIMESTAMP") === true;
  const shown = isTime ? "epoch_us(moment)" : "moment";
  const sql = `SELECT id, whole, amount, flag, day, ${shown}, 'x' || note, extra FROM '${file}' ORDER BY id`;
  const found = await duckRows(sql);
  assert.equal(found.length, rows.length * copies);
  for (const [i, [id, ...cells]] of found.entries()) {
    assert.equal(id, String(i));
    const row = rows[i % rows.length];
    assert.ok(row);
    const [big, sum = null, flag, on = null, at = null, words, more = null] = cells;
    assert.equal(big, row.whole?.toString() ?? null);
    assert.ok(sameAmount(sum, row.amount, types.get("amount") ?? ""), `amount ${row.amount} is ${sum}`);
    assert.equal(flag, row.flag?.toString() ?? null);
    assert.equal(withoutEra(on), row.day);
    assert.equal(at, isTime ? microsOf(row.moment) : asStored(row.moment));
    assert.equal(words, marked(row.note));
    assert.deepEqual(more === null ? null : JSON.parse(more), wellFormed(row.extra));
  }
}

/** Its JavaScript binding takes a byte order mark off a text's beginning, so a letter stands before each. */
function marked(text: string | null): string | null {
  return text === null ? null : `x${text.toWellFormed()}`;
}

/** DuckDB calls the year 0 `0001 (BC)`. */
function withoutEra(found: string | null): string | null {
  return found?.replace(/^0001(.*) \(BC\)$/, "0000$1") ?? null;
}

function sameAmount(found: string | null, expected: number | null, type: string): boolean {
  if (found === null || expected === null) return found === expected;
  if (type === "DOUBLE") return Number(found) === expected;
  return sameRatio(ratioOf(found), ratioOf(String(expected)));
}

/** Microseconds of a text that is a time, counted without a date's own arithmetic of fractions. */
function microsOf(written: string | null): string | null {
  if (written === null) return null;
  const [, date0 = "", time = "", fraction = "", zone = ""] =
    /^(.{10})[T ](.{8})(?:\.(\d+))?(.*)$/.exec(written) ?? [];
  const offset = /^([-+])(\d\d):?(\d\d)$/.exec(zone);
  const minutes = offset ? Number(`${offset[1]}1`) * (Number(offset[2]) * 60 + Number(offset[3])) : 0;
  const seconds = BigInt(Date.parse(`${date0}T${time}Z`) / 1000 - minutes * 60);
  return String(seconds * 1_000_000n + BigInt(fraction.padEnd(6, "0")));
}

function asStored(written: string | null): string | null {
  return written?.replace(/^(\d{4}-\d\d-\d\d) (?=\d\d:\d\d)/, "$1T").toWellFormed() ?? null;
}

/** SQLite keeps half a surrogate pair as U+FFFD. */
function wellFormed(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).toWellFormed()) as unknown;
}

const csvTable = fc.record({
  rows: fc.array(sample, { maxLength: 40, size: "max" }),
  dialect: fc.constantFrom("standard" as const, "excel-sk" as const),
});

const csv = fuzzTarget("export/csv", 2, csvTable, async ({ rows, dialect }) => {
  await withExport(rows, { format: "csv", dialect }, 1, async (file) => {
    const names = ["id", "whole", "amount", "flag", "day", "moment", "note", "extra"];
    const columns = names.map((name) => `'${name}': 'VARCHAR'`).join();
    const options = `delim = '${dialect === "standard" ? "," : ";"}', header = true, quote = '"', escape = '"', new_line = '\\r\\n',
    auto_detect = false, allow_quoted_nulls = false, nullstr = '', parallel = false, max_line_size = 10000000, columns = {${columns}}`;
    const found = await duckRows(
      `SELECT * REPLACE ('x' || note AS note) FROM read_csv('${file}', ${options})`,
    );
    assert.equal(found.length, rows.length);
    for (const [id, row] of rows.entries()) assertCells(found[id] ?? [], row, id, dialect);
  });
});

function assertCells(cells: readonly (string | null)[], row: Sample, id: number, dialect: string): void {
  const [, , sum = null, , , , , more = null] = cells;
  const expected = [String(id), row.whole?.toString() ?? null, sum, row.flag?.toString() ?? null];
  const times = [row.day, asStored(row.moment)].map(guarded);
  assert.deepEqual(cells, [...expected, ...times, marked(guarded(row.note)), more]);
  assert.deepEqual(more === null ? null : JSON.parse(more), wellFormed(row.extra));
  if (dialect !== "standard") assert.ok(!sum?.includes("."));
  const isPlain = sum === null || /^-?\d+(\.\d+)?$/.test(sum.replace(",", "."));
  assert.ok(
    isPlain && sameAmount(sum?.replace(",", ".") ?? null, row.amount, ""),
    `amount ${row.amount} is ${sum}`,
  );
}

/** A text that a spreadsheet could run gets one apostrophe, whatever else it begins with. */
function guarded(value: string | null): string | null {
  return value !== null && /^[=+\-@\t\r\n＝＋－＠]/.test(value) ? `'${value}` : value;
}

/** Files of every format, read back by programs of others. */
export const exportTargets = { csv, parquet };
