import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../src/json/literal.ts";
import { parseLossless } from "../../src/json/lossless.ts";
import { planTable, sqlTypes, type TablePlan } from "../../src/store/tables/table-plan.ts";
import { OddValue, toRow, type Row } from "../../src/store/tables/row-decoder.ts";
import { resourceOf } from "../support/mirror/mirror.ts";

const ordersPlan = () => planTable(resourceOf("orders"));

function rowOf(record: object | string, plan: TablePlan = ordersPlan()): Row {
  const text = typeof record === "string" ? record : JSON.stringify(record);
  return toRow(plan, parseLossless(text) as JsonObject);
}

function paths(record: object | string): string[] {
  return rowOf(record).unknown.map(({ path }) => path.join("."));
}

/** Why a record is no row; `taken` when it is one. */
function reason(record: object): string {
  try {
    rowOf(record);
  } catch (error) {
    return error instanceof OddValue ? error.message : String(error);
  }
  return "taken";
}

/** The cells by the names of their columns, nulls left out. */
function cells(record: object | string, plan: TablePlan = ordersPlan()): Record<string, unknown> {
  const row = rowOf(record, plan);
  const named = plan.columns.map(({ name }, i) => [name, row.cells[i]] as const);
  return Object.fromEntries(named.filter(([, cell]) => cell !== null));
}

describe("columns", () => {
  test("a lookup becomes its id, a snapshot prefixed columns, a list of parts a table of its own", () => {
    const plan = ordersPlan();
    expect(plan.columns.map((column) => `${column.name} ${sqlTypes[column.scalar]}`)).toEqual([
      "id INTEGER",
      "number TEXT",
      "total REAL",
      "paid INTEGER",
      "issued_on TEXT",
      "changed_at TEXT",
      "extra TEXT",
      "colour_id INTEGER",
      "buyer_name TEXT",
      "buyer_city TEXT",
      "buyer_country_id INTEGER",
      "remark TEXT",
    ]);
    expect(plan.children.map(({ table, parentKey }) => [table, parentKey])).toEqual([
      ["order_lines", "order_id"],
    ]);
    expect(plan.owned).toEqual([{ field: "receipts", resource: "receipts" }]);
  });

  test("`colourId` and `colour.id` are one column; the first of them counts wherever it stands", () => {
    expect(cells({ colour: { id: 5, label: "red" } })).toEqual({ colour_id: 5 });
    expect(cells({ colourId: null, colour: { id: 5 } })).toEqual({ colour_id: 5 });
    expect(cells({ colourId: 6, colour: { id: 5 } })).toEqual({ colour_id: 6 });
    expect(cells({ colour: { id: 5 }, colourId: 6 })).toEqual({ colour_id: 6 });
  });

  test("what a nested record of another resource has besides its id is left to that resource", () => {
    expect(rowOf({ colour: { id: 5, shade: "dark", __proto: 1 } }).unknown).toEqual([]);
  });
});

describe("values", () => {
  test("an odd value is refused with its path and its kind", () => {
    expect(reason({ total: "much" })).toBe('total is text ("much"), not decimal');
    expect(reason({ buyer: { city: [1] } })).toBe("buyer.city is a list, not text");
    expect(reason({ buyer: 5 })).toBe("buyer is number 5, not an object");
    expect(reason({ buyer: [{ name: "a" }] })).toBe("buyer is a list, not an object");
    expect(reason({ colour: [5] })).toBe("colour is a list, not an object");
    expect(reason({ lines: { 0: { id: 1 } } })).toBe("lines is an object, not a list");
    expect(reason({ lines: [{ id: 1 }, null] })).toBe("lines[1] is null, not an object");
    expect(reason({ colourId: 1, colour: { id: "x" } })).toBe('colour.id is text ("x"), not integer');
  });
});

describe("what PHP sends", () => {
  test("`[]` for an empty map is a snapshot, a lookup and an object of nothing", () => {
    expect(cells({ id: "7", number: "1", buyer: [], colour: [] })).toEqual({ id: 7, number: "1" });
    expect(cells({ buyer: { name: "n", country: [] } })).toEqual({ buyer_name: "n" });
    expect(cells({ extra: [] })).toEqual({ extra: "[]" });
    expect(paths({ buyer: [], colour: [] })).toEqual([]);
  });
});

describe("fields a record lacks", () => {
  test("are reported when they are required, as a path; null and optional ones are not", () => {
    expect(rowOf({ id: 1, number: null, lines: [{}], receipts: [] }).missing).toEqual(["total", "lines.id"]);
    expect(rowOf({ id: 1, number: "1", total: 1 }).missing).toEqual(["lines"]);
    expect(rowOf({ id: 1, number: "1", total: 1, lines: {} }).missing).toEqual([]);
  });
});

const odd: fc.Arbitrary<JsonValue> = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<JsonValue>;
const knownKeys = "id number total paid issuedOn changedAt extra colourId colour buyer".split(" ");
const key = fc.oneof(
  fc.constantFrom(...knownKeys, "lines", "receipts", "remark"),
  fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", "", "0", "id ", "ID", "🙂"),
  fc.string({ maxLength: 6 }),
);

/** Any record at all, with a taste for keys and shapes the plan knows. */
const anyRecord = fc
  .array(
    fc.tuple(
      key,
      fc.oneof(
        odd,
        fc.integer(),
        fc.string({ maxLength: 8 }),
        fc.constantFrom<JsonValue>(null, { id: 3 }, { name: "n", city: "c" }, [
          { id: 1 },
          { title: "t", more: 1 },
        ]),
      ),
    ),
    { maxLength: 12 },
  )
  .map(
    (entries) =>
      `{${[...new Map(entries)].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(",")}}`,
  );

function outcome(text: string, plan: TablePlan): unknown {
  try {
    const { cells: all, children, missing, unknown } = rowOf(text, plan);
    const keys = unknown.map(({ path }) => path.join("\n")).toSorted();
    return { all, children, missing: missing.toSorted(), keys };
  } catch (error) {
    if (error instanceof OddValue) return "odd";
    throw error;
  }
}

describe("any record whatsoever", () => {
  test("becomes a row or is refused as odd; nothing else ever happens", () => {
    const plan = ordersPlan();
    const property = fc.property(anyRecord, (text) => void outcome(text, plan));
    fc.assert(property, { numRuns: 1_000 });
  });

  test("gives the same row whatever the order of its keys, and whatever records came before it", () => {
    const warm = ordersPlan();
    const property = fc.property(anyRecord, fc.infiniteStream(fc.nat()), (text, dice) => {
      const members = Object.entries(JSON.parse(text) as object).map(
        ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
      );
      const shuffled = members
        .map((member) => ({ member, rank: dice.next().value ?? 0 }))
        .toSorted((a, b) => a.rank - b.rank)
        .map(({ member }) => member);
      const other = `{${shuffled.join(",")}}`;
      expect(outcome(other, warm)).toEqual(outcome(text, ordersPlan()));
    });
    fc.assert(property, { numRuns: 400 });
  });
});
