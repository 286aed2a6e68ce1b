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

const row = "disk | it is full | the report's file | the old report stays";

const tagged = (tag: string, code: string) => `// Fault: ${tag}\n${code}\n`;

test.each([
  ["above nothing", tagged(row, "")],
  ["above a blank line", tagged(row, '\ntest("x", () => {});')],
  ["above a function", tagged(row, 'function a() {}\ntest("x", () => {});')],
  ["of an unknown area", tagged("weather | a | b | c", 'test("x", () => {});')],
  ["with three parts", tagged("disk | a | b", 'test("x", () => {});')],
  ["with five parts", tagged(`${row} | e`, 'test("x", () => {});')],
  ["that is double", tagged(row, 'test("x", () => {});').repeat(2)],
])("a fault's tag %s is refused", (_, code) => {
  const { complaints } = readFaults([readSource("test/a/b.test.ts", code)]);
  expect(complaints).toHaveLength(1);
});
