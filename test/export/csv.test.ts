import { describe, expect, test } from "vitest";
import { cellEnd, nullCell, type CellColumn } from "../../src/export/columns/cells.ts";
import { csvHead, CsvWriter } from "../../src/export/csv/csv-writer.ts";

type Value = string | number | bigint | boolean | null;
type Rows = readonly (readonly Value[])[];

/** Rows as SQLite writes them. */
function cellsOf(rows: Rows): Uint8Array {
  const cells = rows.flat().map((value) => {
    if (value === null) return Buffer.of(nullCell);
    if (typeof value === "boolean") return Buffer.from(value ? "1" : "0");
    const isWhole = typeof value === "number" && Number.isInteger(value) && Math.abs(value) < 1e15;
    return Buffer.from(isWhole ? `${value}.0` : String(value));
  });
  return Buffer.concat(cells.flatMap((cell, i) => (i === 0 ? [cell] : [Buffer.of(cellEnd), cell])));
}

function csvOf(columns: readonly CellColumn[], rows: Rows, dialect: "standard" | "excel-sk" = "standard") {
  return Buffer.from(new CsvWriter(columns, dialect).write(cellsOf(rows))).toString();
}

const text = (name = "text"): CellColumn => ({ name, type: "TEXT" });
const amount: CellColumn = { name: "amount", type: "DECIMAL(18,6)" };

describe("text", () => {
  // Fault: data | texts that a spreadsheet would run as formulas | cells of CSV | one apostrophe before them
  test.each(["=1+1", "+421 900", "-5", "@sum", "\tx", "＝1", "＋1", "－1", "＠x"])(
    "%j, which a spreadsheet would run, gets one apostrophe, in both dialects",
    (value) => {
      expect(csvOf([text()], [[value]])).toBe(`'${value}\r\n`);
      expect(csvOf([text()], [[value]], "excel-sk")).toBe(`'${value}\r\n`);
    },
  );

  test.each(["\rx", "\nx", '=cmd|"/c calc"!A1,2'])("%j gets it inside of its quotes", (value) => {
    expect(csvOf([text()], [[value]])).toBe(`"'${value.replaceAll('"', '""')}"\r\n`);
  });
});

describe("numbers stay numbers", () => {
  test.each([
    [0, "0", "0,00"],
    [12.5, "12.5", "12,50"],
    [1.0845, "1.0845", "1,0845"],
    [0.1 + 0.2, "0.30000000000000004", "0,30000000000000004"],
    [-0.01, "-0.01", "-0,01"],
    [1e-7, "0.0000001", "0,0000001"],
    [1e21, "1000000000000000000000", "1000000000000000000000,00"],
  ])("%d is %s, and %s in Excel's dialect", (value, csv, excel) => {
    expect(csvOf([amount, text()], [[value, "x"]])).toBe(`${csv},x\r\n`);
    expect(csvOf([amount, text()], [[value, "x"]], "excel-sk")).toBe(`${excel};x\r\n`);
  });

  test("many numbers that become longer in CSV fit the buffer", () => {
    const rows = Array.from({ length: 500 }, () => [1.7e308]);
    const lines = csvOf([amount], rows).split("\r\n");
    expect(lines).toHaveLength(501);
    expect(new Set(lines.slice(0, -1))).toEqual(new Set([BigInt("17" + "0".repeat(307)).toString()]));
    expect(csvOf([amount], rows, "excel-sk")).toBe(lines.join(",00\r\n"));
  });
});

const headOf = (name: string, dialect: "standard" | "excel-sk") =>
  Buffer.from(csvHead([{ name: "id" }, { name }], dialect)).toString();

test("Excel's dialect begins with a byte order mark and separates by semicolons", () => {
  expect(headOf("názov", "excel-sk")).toBe("\ufeffid;názov\r\n");
  expect(headOf('a "b", c', "standard")).toBe('id,"a ""b"", c"\r\n');
  expect(csvOf([text(), text()], [["a,b", "a;b"]], "excel-sk")).toBe('a,b;"a;b"\r\n');
});
