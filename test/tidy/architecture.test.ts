import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { projectFolder } from "./read-source.ts";

const page = readFileSync(path.join(projectFolder, "src/README.md"), "utf8");
const rows = page.split("\n").filter((line) => line.startsWith("| "));

/** A file named on the page: from `src/`, from the project's folder for tests and connectors. */
function fileOf(name: string): string {
  return path.join(projectFolder, /^(?:test|connectors|scripts)\//.test(name) ? name : `src/${name}`);
}

function namedFiles(text: string): string[] {
  return [...text.matchAll(/`([\w./-]+\.ts)`/g)].map((match) => match[1] ?? "");
}

describe("the description of the architecture", () => {
  test("names only files that exist", () => {
    expect(namedFiles(page).length).toBeGreaterThan(40);
    expect(namedFiles(page).filter((name) => !existsSync(fileOf(name)))).toEqual([]);
  });

  test.each(Array.from({ length: 12 }, (_, i) => `I${i + 1}`))(
    "%s is held by tests that name it",
    (number) => {
      const files = namedFiles(rows.find((row) => row.startsWith(`| ${number} `)) ?? "");
      expect(files.length).toBeGreaterThan(0);
      const silent = files.filter(
        (name) => !new RegExp(`\\b${number}\\b`).test(readFileSync(fileOf(name), "utf8")),
      );
      expect(silent).toEqual([]);
    },
  );

  test.each([
    ["a delivery to a stored event", 6],
    ["a list answer to typed rows", 8],
    ["a row to a Parquet column", 7],
    ["a config key to its use", 4],
  ])("the walk of %s touches at most %i files", (walk, most) => {
    const files = namedFiles(rows.find((row) => row.startsWith(`| ${walk} `)) ?? "");
    expect(files.length).toBeGreaterThan(1);
    expect(files.length).toBeLessThanOrEqual(most);
  });
});
