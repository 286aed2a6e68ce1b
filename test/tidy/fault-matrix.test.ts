import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { faultAreas, readFaults, renderFaults } from "./fault-matrix.ts";
import { projectFolder, readProject, readSource } from "./read-source.ts";

const leastRows = 70;
const { faults, complaints: wrong } = readFaults(readProject(["test"]));

describe("the fault matrix", () => {
  test("stands above tests, row by row, and no row is double", () => {
    expect(wrong).toEqual([]);
  });

  test("is what the tags in the tests say: `npm run faults` writes it", () => {
    const page = readFileSync(path.join(projectFolder, "test/FAULTS.md"), "utf8");
    expect(page).toBe(renderFaults(faults));
  });

  test("covers every area", () => {
    expect(faults.length).toBeGreaterThanOrEqual(leastRows);
    expect(faultAreas.filter((known) => faults.every(({ area }) => area !== known))).toEqual([]);
  });
});

test.each([
  ["above nothing", "disk | it is full | the report's file | the old report stays"],
  ["of an unknown area", 'weather | a | b | c\ntest("x", () => {});'],
  ["with three parts", 'disk | a | b\ntest("x", () => {});'],
])("a fault's tag %s is refused", (_, text) => {
  const { complaints } = readFaults([readSource("test/a/b.test.ts", `// Fault: ${text}\n`)]);
  expect(complaints).toHaveLength(1);
});
