import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { faultAreas, readFaults, renderFaults } from "./fault-matrix.ts";
import { projectFolder, readProject } from "./read-source.ts";

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
