import { describe, expect, test } from "vitest";
import {
  connectorKeepsToItself,
  knowsNoConnector,
  layers,
  libraryInItsFolder,
  pointsDown,
} from "./layers.ts";
import { fileCircles } from "./folders.ts";
import { cleanText, shortEnough, strictLint, wellNamed, type LintConfig } from "./code-rules.ts";
import { readSource } from "./read-source.ts";
import { longestChain, sizeOf } from "./size.ts";

/** A file that imports these, and nothing else. */
function importing(path: string, ...names: string[]) {
  return readSource(path, names.map((name) => `import { x } from "${name}";\n`).join(""));
}

describe("a source is read as the compiler reads it", () => {
  test("imports of every form are found, lookalikes are not", () => {
    const text = [
      'import { a } from "./a.ts";',
      'import type { B } from "./b.ts";',
      "import {",
      "  c,",
      '} from "./c.ts";',
      'export { d } from "./d.ts";',
      'import "./e.ts";',
      'const f = await import("./f.ts");',
      '// import { x } from "./comment.ts";',
      'const text = `import { x } from "./template.ts"`;',
      `const single = 'import "./single.ts"';`,
      'const bytes = Buffer.from("./bytes.ts");',
      'const pattern = /import "x"/;',
    ];
    expect(readSource("src/x.ts", text.join("\n")).imports).toEqual([
      "./a.ts",
      "./b.ts",
      "./c.ts",
      "./d.ts",
      "./e.ts",
      "./f.ts",
    ]);
  });

  test("strings, patterns and comments are no code, and lines stay where they are", () => {
    const text =
      'const a = "x: any"; // y: any\nconst b = /"/.test(`z: any\n`); /* c: any */ const d: number = 4 / 2 / 1;\n';
    const { code, comments, lines } = readSource("src/x.ts", text);
    expect(code).not.toContain("any");
    expect(code.split("\n")[2]).toContain("const d: number = 4 / 2 / 1;");
    expect(comments).toBe("// y: any\n/* c: any */");
    expect(lines).toBe(3);
  });
});

describe("layers: the rule bites", () => {
  test.each([
    ["src/base/clock.ts", "../cli/run.ts"],
    ["src/store/rows.ts", "../config/config.ts"],
    ["src/store/rows.ts", "../sync/run.ts"],
    ["src/http/http.ts", "../state/work-queue.ts"],
    ["src/cli/run.ts", "../main.ts"],
    ["src/cli/commands/a.ts", "../../nowhere/b.ts"],
  ])("%s may not import %s", (file, target) => {
    expect(pointsDown(importing(file, target))).toHaveLength(1);
  });

  test.each([
    ["src/cli/commands/a.ts", "../../log/log.ts"],
    ["src/cli/commands/a.ts", "../run.ts"],
    ["src/store/rows.ts", "../json/cut.ts"],
    ["src/store/migrations/first.ts", "../../base/clock.ts"],
    ["src/main.ts", "./cli/run.ts"],
    ["src/index.ts", "./connect.ts"],
  ])("%s may import %s", (file, target) => {
    expect(pointsDown(importing(file, target))).toEqual([]);
  });

  test("a folder that nobody gave a place is noticed, and none has two", () => {
    expect(pointsDown(importing("src/extra/a.ts"))).toEqual([
      "src/extra/a.ts: extra has no place among the layers",
    ]);
    expect(new Set(layers.flat()).size).toBe(layers.flat().length);
  });

  test("the engine may not know a connector or a test", () => {
    expect(
      knowsNoConnector(importing("src/sync/run.ts", "../../connectors/fintoro/manifest.ts")),
    ).toHaveLength(1);
    expect(knowsNoConnector(importing("src/main.ts", "../test/support/program/cli.ts"))).toHaveLength(1);
    expect(knowsNoConnector(importing("src/main.ts", "../connectors/fintoro/manifest.ts"))).toEqual([]);
  });

  test.each([
    ["connectors/fintoro/manifest.ts", "../../src/http/http.ts"],
    ["connectors/fintoro/manifest.ts", "./sandbox/sandbox.ts"],
    ["connectors/fintoro/sandbox/sandbox.ts", "../manifest.ts"],
    ["connectors/fintoro/sandbox/seed/a.ts", "../../resources/invoices.ts"],
    ["connectors/fintoro/sandbox/sandbox.ts", "../../../src/store/mirror.ts"],
    ["connectors/fintoro/sandbox/sandbox.ts", "../../other/sandbox/sandbox.ts"],
  ])("%s may not import %s", (file, target) => {
    expect(connectorKeepsToItself(importing(file, target)).length).toBeGreaterThan(0);
  });

  test.each([
    ["connectors/fintoro/resources/invoices.ts", "../../../src/connector/schema.ts"],
    ["connectors/fintoro/sandbox/service/a.ts", "../seed/b.ts"],
    ["connectors/fintoro/sandbox/service/a.ts", "../../../../src/base/clock.ts"],
  ])("%s may import %s", (file, target) => {
    expect(connectorKeepsToItself(importing(file, target))).toEqual([]);
  });
});

describe("one library, one folder: the rule bites", () => {
  test.each([
    ["src/sync/run.ts", "undici"],
    ["src/cli/run.ts", "better-sqlite3"],
    ["src/rate-limit/state.ts", "better-sqlite3"],
    ["src/http/http.ts", "pino"],
    ["src/store/mirror.ts", "commander"],
    ["connectors/fintoro/sandbox/sandbox.ts", "yaml"],
    ["src/store/a.ts", "left-pad"],
    ["src/store/a.ts", "@scope/thing/inner"],
  ])("%s may not import %s", (file, name) => {
    expect(libraryInItsFolder(importing(file, name))).toHaveLength(1);
  });

  test("in their own folders, in tests, and Node's own anywhere, they may be", () => {
    expect(libraryInItsFolder(importing("src/store/a.ts", "better-sqlite3", "node:fs"))).toEqual([]);
    expect(libraryInItsFolder(importing("test/config/a.test.ts", "yaml", "vitest"))).toEqual([]);
  });
});

test("circles of imports are found, however long, and once", () => {
  const ring = [
    importing("src/a/a.ts", "../b/b.ts"),
    importing("src/b/b.ts", "../c/c.ts", "./d.ts"),
    importing("src/c/c.ts", "../a/a.ts"),
    importing("src/b/d.ts"),
  ];
  expect(fileCircles(ring)).toEqual(["src/a/a.ts -> src/b/b.ts -> src/c/c.ts -> src/a/a.ts"]);
  expect(fileCircles([importing("src/a/a.ts", "./a.ts")])).toEqual(["src/a/a.ts -> src/a/a.ts"]);
  expect(fileCircles(ring.slice(1))).toEqual([]);
});

function complaintsOn(code: string) {
  return cleanText(readSource("src/a/a.ts", `${code}\n`));
}

function ofLines(count: number) {
  return readSource("src/a/a.ts", "const a = 1;\n".repeat(count));
}

describe("code rules: the rule bites", () => {
  test.each([
    "const a: any = 1;",
    "const a = b as any;",
    "const a: Map<string, any> = new Map();",
    "function a(...rest: any[]) {}",
    "type A = string | any;",
    "export default a;",
    'test.skip("a", () => {});',
    'describe.only("a", () => {});',
    'test.todo("a");',
    'test.skipIf(true)("a", () => {});',
    'xit("a", () => {});',
    "await vi.waitFor(() => expect(a).toBe(1));",
    "await expect.poll(() => a, { timeout: 3_000 }).toBe(1);",
    "debugger;",
    'console.log("a");',
    "// @ts-ignore",
    "// @ts-expect-error because",
    "/* oxlint-disable no-console */",
    "// eslint-disable-next-line",
    "// prettier-ignore",
    "/* v8 ignore next */",
    "// TODO: later",
    "// FIXME",
  ])("%s", (code) => {
    expect(complaintsOn(code)).toHaveLength(1);
  });

  test.each([
    "const any = new Set<string>(); any.has(x);",
    "expect.any(String); fc.anything();",
    'const text = "// TODO: any";',
    "const only = list.only;",
    'import { z } from "zod"; export const a = z.any;',
    "// any of these will do; skip the rest, todo lists are data",
    'test.runIf(present)("a", () => {});',
  ])("%s is fine", (code) => {
    expect(complaintsOn(code)).toEqual([]);
  });

  test("a file may be 500 lines long at the very most, and above 400 must be on the list", () => {
    expect(shortEnough(ofLines(400))).toEqual([]);
    expect(shortEnough(ofLines(401))).toHaveLength(1);
    expect(shortEnough(ofLines(501))).toEqual(["src/a/a.ts: 501 lines, 500 at most"]);
  });

  test.each([
    "src/a/myFile.ts",
    "src/My/a.ts",
    "src/a/my_file.ts",
    "src/a/utils.ts",
    "src/helpers/a.ts",
    "src/a/string-util.ts",
  ])("%s is badly named", (path) => {
    expect(wellNamed(readSource(path, ""))).toHaveLength(1);
  });

  test.each([
    "src/a/my-file.ts",
    "test/a/my-file.test.ts",
    "src/store/migrations/0001-first.ts",
    "bin/start.js",
  ])("%s is well named", (path) => {
    expect(wellNamed(readSource(path, ""))).toEqual([]);
  });
});

describe("the linter's bar: the rule bites", () => {
  const strict: LintConfig = {
    categories: { correctness: "error", suspicious: "error", perf: "error" },
    rules: {
      "max-lines": ["error", { max: 500 }],
      "max-lines-per-function": ["error", { max: 70 }],
      "typescript/no-explicit-any": "error",
      "typescript/no-floating-promises": "error",
      "import/no-cycle": "error",
    },
    overrides: [{ files: ["test/**/*.ts"], rules: { "max-lines-per-function": "off" } }],
  };
  const withRule = (rule: string, level: unknown): LintConfig => ({
    ...strict,
    rules: { ...strict.rules, [rule]: level },
  });

  test("as it is, it passes", () => {
    expect(strictLint(strict)).toEqual([]);
  });

  test.each([
    ["longer functions", withRule("max-lines-per-function", ["error", { max: 71 }])],
    ["longer files", withRule("max-lines", ["error", { max: 501 }])],
    ["no limit at all", { ...strict, rules: { ...strict.rules, "max-lines": "off" } }],
    ["a warning in place of an error", withRule("typescript/no-explicit-any", "warn")],
    ["a rule turned off", withRule("eqeqeq", "off")],
    ["a category turned off", { ...strict, categories: { correctness: "error", suspicious: "error" } }],
    [
      "an exception for source",
      { ...strict, overrides: [{ files: ["src/a.ts"], rules: { "max-lines-per-function": "off" } }] },
    ],
    [
      "another exception for tests",
      { ...strict, overrides: [{ files: ["test/a.ts"], rules: { eqeqeq: "off" } }] },
    ],
  ] as [string, LintConfig][])("%s", (_, config) => {
    expect(strictLint(config).length).toBeGreaterThan(0);
  });
});

describe("the size of the product", () => {
  test("what is loaded counts in a chain, types and what is imported when it is needed do not", () => {
    const sources = [
      readSource("src/a.ts", 'import { b } from "./b.ts";\nimport type { D } from "./d.ts";\n'),
      readSource("src/b.ts", 'export {\n  c,\n} from "./c.ts";\nconst d = await import("./d.ts");\n'),
      readSource("src/c.ts", ""),
      readSource("src/d.ts", 'import "./c.ts";\n'),
    ];
    expect(longestChain(sources)).toEqual(["src/a.ts", "src/b.ts", "src/c.ts"]);
  });

  test("a type that stands twice and an interface of nine members are found", () => {
    const members = Array.from("abcdefghi", (name) => `  readonly ${name}: string;\n`).join("");
    const sources = [
      readSource("src/a.ts", `export interface Wide {\n${members}}\n`),
      readSource("src/b.ts", "type Wide = string;\nexport const b = 1;\n"),
    ];
    expect(sizeOf(sources)).toMatchObject({
      interfacesOfMoreThanEightMembers: 1,
      typeNamesThatStandTwice: 1,
      exportedNamesPerThousandLines: 154,
    });
  });
});
