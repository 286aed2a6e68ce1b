import { expect, test } from "vitest";
import { accountantMonth } from "../../connectors/fintoro/accountant-month.ts";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import words from "../../connectors/fintoro/slovak.json" with { type: "json" };
import type { Translation } from "../../src/connector/translation.ts";
import { docs } from "../support/docs/docs.ts";

const slovak: Translation = words;
const text = docs.get("docs/sk.md") ?? "";

test("the Slovak quick start names every view as its sheet is called", () => {
  const rows = [...text.matchAll(/^\| (.+?) +\| `(v_\w+)` +\|/gm)].map(([, title, view]) => [view, title]);
  const views = (declaration.views ?? []).map(({ name }) => [name, slovak.titles[name]]);
  expect(rows).toEqual(views);
});

test("the Slovak quick start names columns, ages and the sheets of a month as workbooks do", () => {
  const headings = new Set(Object.values(slovak.columns));
  const bold = [...text.matchAll(/\*\*([^*]+)\*\*/g)].map(([, word = ""]) => word);
  const others = new Set<string | undefined>([
    "Zošit (`.xlsx`)",
    "CSV (`.csv`)",
    accountantMonth.certificate.title,
    ...["month_control", "month_changes", "month_vat_corrections"].map((name) => slovak.titles[name]),
  ]);
  expect(bold.filter((word) => !headings.has(word) && !others.has(word))).toEqual([]);
  expect(bold.length).toBeGreaterThan(10);
  for (const age of Object.values(slovak.values["age"] ?? {})) expect(text).toContain(`„${age}“`);
  for (const { name } of accountantMonth.sheets) expect(text).toContain(slovak.titles[name]);
});
