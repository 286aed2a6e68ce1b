import { describe, expect, test } from "vitest";
import { declaration } from "../../connectors/fintoro/declaration.ts";
import {
  fileCircles,
  folderCircles,
  noFamilies,
  noShards,
  smallFolders,
  uniqueExports,
  uniqueFiles,
} from "./folders.ts";
import {
  connectorKeepsToItself,
  importedFiles,
  knowsNoConnector,
  libraryInItsFolder,
  namesNoTable,
  ownSqlInItsPlace,
  pointsDown,
} from "./layers.ts";
import { sizeOf, type Size } from "./size.ts";
import { documented, speaksPlainly } from "./vocabulary.ts";
import { cleanText, wellNamed } from "./code-rules.ts";
import { load } from "../support/connector/config.ts";
import { projectText, readProject, type Complaints, type Source } from "./read-source.ts";

const sources = readProject(["src", "connectors", "test", "bin"]);
const present = new Set(sources.map((source) => source.path));
const product = sources.filter(({ path: file }) => /^(?:src|connectors)\//.test(file));
const besidesRules = sources.filter((source) => !source.path.startsWith("test/tidy/"));
/** Each only goes down: a feature pays for itself by what it removes. */
const most: Size = {
  lines: 61_665,
  files: 437,
  exportedNamesPerThousandLines: 38,
  longestImportChain: 16,
  interfacesOfMoreThanEightMembers: 16,
  typeNamesThatStandTwice: 0,
};
const mostTestLines = 59_986;
/** Tables whose names are ordinary words of the code, too. */
const plainWords = new Set(["company", "units", "languages", "currencies", "orders", "countries", "banks"]);
const tables = new Set(declaration.resources.map(({ name }) => name).filter((one) => !plainWords.has(one)));
/** Entry points, and what a connector declares one by one. */
const mayBeShort = ({ path: file }: Source) =>
  /^connectors\/\w+\/(?:resources|operations|report|client)\//.test(file) ||
  /^src\/(?:store\/migrations|cli\/commands)\//.test(file);
const below = (folder: string) => sources.filter((source) => source.path.startsWith(folder));

test("the whole project was looked at", () => {
  expect(below("src/").length).toBeGreaterThan(120);
  expect(below("connectors/").length).toBeGreaterThan(60);
  expect(below("test/").length).toBeGreaterThan(60);
  expect(sources.flatMap(importedFiles).length).toBeGreaterThan(1000);
  // With each name twice nothing is zero, and nothing that is counted is far from its limit.
  for (const [what, size] of Object.entries(sizeOf([...product, ...product])))
    expect(size, what).toBeGreaterThan(0.7 * most[what as keyof Size]);
});

test.each<[string, readonly Source[], (source: Source) => Complaints]>([
  ["imports point one way", sources, pointsDown],
  ["only the composition root knows a connector", sources, knowsNoConnector],
  ["a connector knows contract and base, a sandbox no code of the engine", sources, connectorKeepsToItself],
  ["the engine names no table of a connector", sources, (source) => namesNoTable(source, tables)],
  ["SQL on own tables stands in src/state", product, ownSqlInItsPlace],
  ["nothing is silenced, skipped, left for later or exported without a name", sources, cleanText],
  ["folders and files say what they are about", sources, wellNamed],
  ["files, identifiers and comments speak the language of the glossary", besidesRules, speaksPlainly],
  ["every exported function and class says what it does", product, documented],
])("%s", (_, files, rule) => {
  expect(files.flatMap(rule)).toEqual([]);
});

describe("layers", () => {
  test("one library, one folder", () => {
    expect(sources.flatMap(libraryInItsFolder)).toEqual([]);
  });

  test("no file is imported by what it imports", () => {
    expect(fileCircles(sources)).toEqual([]);
  });

  test("no folder is imported by what it imports", () => {
    expect(folderCircles(product)).toEqual([]);
  });
});

describe("folders", () => {
  test("a folder holds at most 15 files, and a family of names is a folder", () => {
    expect(smallFolders([...product, ...below("test/support/")])).toEqual([]);
    expect(noFamilies(product)).toEqual([]);
  });

  test("a short file with one importer is a part of it", () => {
    expect(noShards(product, mayBeShort)).toEqual([]);
  });

  test("a name leads to one file, and to one function or class", () => {
    expect(uniqueFiles(product)).toEqual([]);
    expect(uniqueExports(product)).toEqual([]);
  });

  test("neither product nor tests grow in any way that their next reader pays for", () => {
    const grown = Object.entries(sizeOf(product)).filter(([what, size]) => size > most[what as keyof Size]);
    expect(grown).toEqual([]);
    expect(sizeOf(below("test/")).lines).toBeLessThanOrEqual(mostTestLines);
  });
});

describe("settings", () => {
  test("the tests that vitest.config.ts names are there", () => {
    const config = projectText("vitest.config.ts");
    const names = config.matchAll(/"(?!vitest\/)(?:test\/)?([\w-]+(?:\/[\w-]+)+)(?:\.test\.ts)?"/g);
    const files = [...names].map(([, name]) => `test/${name}.test.ts`);
    expect(files).toContain("test/crash/points.test.ts");
    expect(files.filter((file) => !present.has(file))).toEqual([]);
  });

  test("no key of the config is there that nothing obeys", () => {
    const { config } = load(`companies: { acme: { token: "\${env:TOKEN}", webhook: {} } }
exports: [{ format: csv, out: out }]
alerts: [{ when: [failed], command: mail }]
notify: [{ url: "https://x.example", secret: "whsec_${"a".repeat(32)}" }]
fleet: { postgres: "postgres://host/fleet", snapshots: snapshots }`);
    const keys = new Set<string>();
    JSON.stringify(config, (key, value: unknown) => (keys.add(key), value));
    // These are obeyed where the config is read: what remains are its resources.
    const others = [...keys].filter((key) => /^[a-z]/i.test(key) && !["include", "exclude"].includes(key));
    const code = product.filter((source) => !source.path.startsWith("src/config/")).map((one) => one.code);
    const isRead = (key: string) => new RegExp(`[.{,]\\s*${key}\\b`).test(code.join("\n"));
    expect(others.length).toBeGreaterThan(80);
    expect(others.filter((key) => !isRead(key))).toEqual([]);
  });

  test("the linter's bar stays where it is", () => {
    const config = JSON.parse(projectText(".oxlintrc.json")) as Record<string, unknown>;
    const { categories, rules, overrides } = config;
    expect(categories).toEqual({ correctness: "error", suspicious: "error", perf: "error" });
    expect(rules).toEqual({
      "max-lines": ["error", { max: 400 }],
      "max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
      "no-await-in-loop": "off",
      "no-shadow": "error",
      "typescript/no-explicit-any": "error",
      "typescript/no-floating-promises": "error",
      "typescript/no-misused-promises": "error",
      "typescript/switch-exhaustiveness-check": "error",
      "typescript/no-unsafe-type-assertion": "off",
      "typescript/consistent-type-imports": "error",
      "import/no-cycle": "error",
      "import/no-duplicates": "error",
      eqeqeq: "error",
      "prefer-const": "error",
    });
    expect(overrides).toEqual([{ files: ["test/**/*.ts"], rules: { "max-lines-per-function": "off" } }]);
  });
});
