import { expect, test } from "vitest";
import { openDatabase } from "../../src/store/database.ts";
import { docs } from "../support/docs/docs.ts";

const page = docs.get("docs/fleet-sizing.md") ?? "";

function tableBelow(heading: string): string[][] {
  const section = page.split(/^## /m).find((one) => one.startsWith(heading)) ?? "";
  const rows = [...section.matchAll(/^\|(.+)\|$/gm)].map(([, cells = ""]) =>
    cells.split("|").map((cell) => cell.trim().replaceAll("`", "")),
  );
  return rows.slice(2);
}

const numberOf = (text: string) => Number(text.replaceAll(",", ""));

const units = new Map(
  ["What you put in", "What is measured"].flatMap((heading) =>
    tableBelow(heading).map(([name = "", value = ""]) => [name, numberOf(value)] as const),
  ),
);
const sizes = [1_000, 10_000, 100_000];

function valueOf(formula: string, known: ReadonlyMap<string, number>): number {
  const sql = formula.replaceAll(/[a-z_]+(?!\()\b/g, (name) => {
    const value = known.get(name);
    if (value === undefined) throw new Error(`the page has no ${name}`);
    return `(${value} * 1.0)`;
  });
  using db = openDatabase(":memory:");
  return Number(db.prepare(`SELECT ${sql}`).pluck().get());
}

/** As the page writes it: two digits that count, whole numbers whole. */
function written(value: number): string {
  if (Number.isInteger(value) && value < 1_000) return String(value);
  const rounded = Number(value.toPrecision(2));
  return rounded.toLocaleString("en-US", { maximumFractionDigits: 6 });
}

test("every figure of the sizes follows from the figures above it", () => {
  const rows = tableBelow("The arithmetic");
  expect(rows.length).toBeGreaterThan(12);
  const expected = rows.map(([name = "", formula = ""]) => [name, formula] as string[]);
  for (const companies of sizes) {
    const known = new Map([...units, ["companies", companies]]);
    for (const [index, [name = "", formula = ""]] of rows.entries()) {
      const value = valueOf(formula, known);
      known.set(name, value);
      expected[index]?.push(written(value));
    }
  }
  expect(rows.map((cells) => cells.slice(0, 5))).toEqual(expected);
});

test("every figure is used, and each that is measured says where it is from", () => {
  const formulas = tableBelow("The arithmetic").map(([, formula = ""]) => formula);
  const used = new Set(formulas.flatMap((formula) => formula.match(/[a-z_]+/g) ?? []));
  expect([...units.keys()].filter((name) => !used.has(name))).toEqual([]);
  const measured = tableBelow("What is measured").map(([, , from = ""]) => from);
  expect(measured.filter((from) => !/^(at rest|at work|docs\/|src\/)/.test(from))).toEqual([]);
});
