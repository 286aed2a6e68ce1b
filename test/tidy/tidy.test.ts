import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import {
  connectorKeepsToItself,
  importedFiles,
  importRings,
  knowsNoConnector,
  libraryInItsFolder,
  pointsDown,
} from "./layers.ts";
import { cleanText, longFiles, shortEnough, strictLint, wellNamed, type LintConfig } from "./code-rules.ts";
import { projectFolder, readProject } from "./read-source.ts";

const sources = readProject(["src", "connectors", "test", "bin"]);
const present = new Set(sources.map((source) => source.path));
const below = (folder: string) => sources.filter((source) => source.path.startsWith(folder));

test("the whole project was looked at", () => {
  expect(below("src/").length).toBeGreaterThan(120);
  expect(below("connectors/").length).toBeGreaterThan(80);
  expect(below("test/").length).toBeGreaterThan(60);
  expect(sources.flatMap(importedFiles).length).toBeGreaterThan(1000);
});

describe("layers", () => {
  test("imports point one way", () => {
    expect(sources.flatMap(pointsDown)).toEqual([]);
  });

  test("only the composition root knows a connector", () => {
    expect(sources.flatMap(knowsNoConnector)).toEqual([]);
  });

  test("a connector knows the contract and the base; a sandbox shares no code with the engine", () => {
    expect(sources.flatMap(connectorKeepsToItself)).toEqual([]);
  });

  test("one library, one folder", () => {
    expect(sources.flatMap(libraryInItsFolder)).toEqual([]);
  });

  test("no file is imported by what it imports", () => {
    expect(importRings(sources)).toEqual([]);
  });
});

describe("manners", () => {
  test("a file is one mechanism, and no list of exceptions outlives its reason", () => {
    expect(sources.flatMap(shortEnough)).toEqual([]);
    expect(longFiles.filter((file) => !present.has(file))).toEqual([]);
  });

  test("nothing is silenced, skipped, left for later or exported without a name", () => {
    expect(sources.flatMap(cleanText)).toEqual([]);
  });

  test("folders and files say what they are about", () => {
    expect(sources.flatMap(wellNamed)).toEqual([]);
  });

  test("the linter's bar stays where it is", () => {
    const config = JSON.parse(readFileSync(path.join(projectFolder, ".oxlintrc.json"), "utf8")) as LintConfig;
    expect(strictLint(config)).toEqual([]);
  });
});
