import { expect, test } from "vitest";
import { wrappedLine } from "../../src/base/terminal-text.ts";
import type { ResourceHealth } from "../../src/status/mirror-health.ts";
import { resourceLines } from "../../src/status/render/status-text.ts";

const nowMs = Date.UTC(2026, 10, 23, 8);

function health(name: string, facts: Partial<ResourceHealth> = {}): ResourceHealth {
  const sweptAt = new Date(nowMs - 190_000).toISOString();
  const none = {
    expected: null,
    provisional: 0,
    deleted: 0,
    parents_never_read: 0,
    left_out: false,
    troubles: [],
  };
  const dates = { sweptAt, oldest_detail_at: null, oldest_parent_at: null };
  return { name, live: 30, ...none, ...dates, ...facts };
}

const invoices = health("invoices", {
  live: 1046,
  expected: 2500,
  provisional: 900,
  oldest_detail_at: new Date(nowMs - 7_200_000).toISOString(),
});

test("tables of a mirror are aligned, and columns that say nothing are left out", () => {
  expect(resourceLines([health("banks"), invoices], nowMs, 80)).toEqual([
    "  table             rows  no detail  read whole  stalest",
    "  banks               30             3m 10s ago",
    "  invoices  1046 of 2500        900  3m 10s ago  2h 00m",
  ]);
  const others = [health("banks", { deleted: 2, sweptAt: null }), health("units", { left_out: true })];
  expect(resourceLines(others, nowMs, null)).toEqual([
    "  table  rows  deleted  read whole",
    "  banks    30        2  never",
    "  units    30           left out",
  ]);
});

test("a terminal that is too narrow has the table without its last columns", () => {
  const narrow = ["  table             rows", "  invoices  1046 of 2500"];
  expect(resourceLines([invoices], nowMs, 30)).toEqual(narrow);
  expect(resourceLines([invoices], nowMs, 50)).toEqual([
    "  table             rows  no detail  read whole",
    "  invoices  1046 of 2500        900  3m 10s ago",
  ]);
});

test("a line is broken at spaces only, and a longer word stays whole", () => {
  expect(wrappedLine("  a", 3)).toEqual(["  a"]);
  const long = "x".repeat(30);
  expect(wrappedLine(`  see ${long} there`, 12)).toEqual(["  see", `    ${long}`, "    there"]);
  expect(wrappedLine("x".repeat(30), 12)).toEqual(["x".repeat(30)]);
});
