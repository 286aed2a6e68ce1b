import { describe, expect, test } from "vitest";
import { faultAreas, readFaults, renderFaults } from "./fault-matrix.ts";
import { projectText, readProject } from "./read-source.ts";

const leastRows = 70;
const { faults, complaints: wrong } = readFaults(readProject(["test"]));

describe("the fault matrix", () => {
  test("stands above tests, row by row, and no row is double", () => {
    expect(wrong).toEqual([]);
  });

  test("is what the tags in the tests say: `npm run faults` writes it", () => {
    expect(projectText("test/FAULTS.md")).toBe(renderFaults(faults));
  });

  test("covers every area", () => {
    expect(faults.length).toBeGreaterThanOrEqual(leastRows);
    expect(faultAreas.filter((known) => faults.every(({ area }) => area !== known))).toEqual([]);
  });
});
