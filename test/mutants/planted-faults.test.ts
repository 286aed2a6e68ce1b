import { existsSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../support/program/cli.ts";
import { withFault } from "./project-copy.ts";
import type { PlantedFault } from "./planted-fault.ts";
import { plantedFaults } from "./planted-faults.ts";

const textOf = (file: string) => readFileSync(path.join(root, file), "utf8");

const placesOf = (fault: PlantedFault) => textOf(fault.file).split(fault.find).length - 1;

describe("planted faults do not rot", () => {
  test("each stands in its file once, and the file with it can be parsed", () => {
    expect(plantedFaults.filter((fault) => placesOf(fault) !== 1).map(({ id }) => id)).toEqual([]);
    for (const fault of plantedFaults) {
      const text = textOf(fault.file);
      const planted = withFault(fault, text);
      expect(planted).not.toBe(text);
      expect(() => stripTypeScriptTypes(planted), fault.id).not.toThrow();
    }
  });

  test("each has an id of its own, and names test files that exist", () => {
    expect(new Set(plantedFaults.map(({ id }) => id)).size).toBe(plantedFaults.length);
    const absent = plantedFaults
      .flatMap(({ tests }) => tests)
      .filter((file) => !existsSync(path.join(root, file)));
    expect(absent).toEqual([]);
  });

  test("each invariant has at least three", () => {
    const numbers = Array.from({ length: 12 }, (_, i) => `I${i + 1}`);
    const counts = numbers.map((one) => [
      one,
      plantedFaults.filter(({ invariant }) => invariant === one).length,
    ]);
    expect(counts.filter(([, count]) => Number(count) < 3)).toEqual([]);
  });
});
