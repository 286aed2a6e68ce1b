import { describe, expect, test } from "vitest";
import {
  connectorKeepsToItself,
  knowsNoConnector,
  layers,
  libraryInItsFolder,
  pointsDown,
} from "./layers.ts";
import { fileCircles } from "./folders.ts";
import { cleanText, wellNamed } from "./code-rules.ts";
import { readSource } from "./read-source.ts";
import { sizeOf } from "./size.ts";

/** A file that imports these, and nothing else. */
function importing(path: string, ...names: string[]) {
  return readSource(path, names.map((name) => `import { x } from "${name}";\n`).join(""));
}

describe("a source is read as the compiler reads it", () => {
  test("imports of every form are found, lookalikes are not", () => {
    const text = [
      'import type { B } from "./b.ts";',
      'import {\n  c,\n} from "./c.ts";',
      'export { d } from "./d.ts";',
      'import "./e.ts";',
      'const f = await import("./f.ts");',
      '// import { x } from "./comment.ts";',
      'const text = `import { x } from "./template.ts"`;',
      `const single = 'import "./single.ts"';`,
      'const bytes = Buffer.from("./bytes.ts");',
      'const pattern = /import "x"/;',
    ];
    const found = ["./b.ts", "./c.ts", "./d.ts", "./e.ts", "./f.ts"];
    expect(readSource("src/x.ts", text.join("\n")).imports).toEqual(found);
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

/** That they leave alone what is right, the whole project shows. */
describe("rules of imports bite", () => {
  const rules = { pointsDown, knowsNoConnector, connectorKeepsToItself, libraryInItsFolder };

  test.each<[rule: keyof typeof rules, file: string, target: string]>([
    ["pointsDown", "src/base/clock.ts", "../cli/run.ts"],
    ["pointsDown", "src/store/rows.ts", "../config/config.ts"],
    ["pointsDown", "src/cli/commands/a.ts", "../../nowhere/b.ts"],
    ["knowsNoConnector", "src/sync/run.ts", "../../connectors/fintoro/manifest.ts"],
    ["knowsNoConnector", "src/main.ts", "../test/support/program/cli.ts"],
    ["connectorKeepsToItself", "connectors/fintoro/manifest.ts", "../../src/http/http.ts"],
    ["connectorKeepsToItself", "connectors/fintoro/manifest.ts", "./sandbox/sandbox.ts"],
    ["connectorKeepsToItself", "connectors/fintoro/sandbox/sandbox.ts", "../manifest.ts"],
    ["libraryInItsFolder", "src/sync/run.ts", "undici"],
    ["libraryInItsFolder", "src/store/a.ts", "left-pad"],
    ["libraryInItsFolder", "src/store/a.ts", "@scope/thing/inner"],
  ])("%s: %s may not import %s", (rule, file, target) => {
    expect(rules[rule](importing(file, target)).length).toBeGreaterThan(0);
  });

  test("a folder that nobody gave a place is noticed, and none has two", () => {
    expect(pointsDown(importing("src/extra/a.ts"))).toEqual([
      "src/extra/a.ts: extra has no place among the layers",
    ]);
    expect(new Set(layers.flat()).size).toBe(layers.flat().length);
  });

  test("circles are found, however long, and once", () => {
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
});

const complaintsOn = (code: string) => cleanText(readSource("src/a/a.ts", `${code}\n`));

describe("rules of code bite", () => {
  test.each([
    "export default a;",
    'test.skip("a", () => {});',
    'test.skipIf(true)("a", () => {});',
    'xit("a", () => {});',
    "await vi.waitFor(() => expect(a).toBe(1));",
    "await expect.poll(() => a, { timeout: 3_000 }).toBe(1);",
    'console.log("a");',
    "// @ts-expect-error because",
    "/* oxlint-disable no-console */",
    "// prettier-ignore",
    "/* v8 ignore next */",
    "// TODO: later",
  ])("%s", (code) => expect(complaintsOn(code)).toHaveLength(1));

  test.each(["src/My/a.ts", "src/a/my_file.ts", "src/helpers/a.ts", "src/a/string-util.ts"])(
    "%s is badly named",
    (path) => expect(wellNamed(readSource(path, ""))).toHaveLength(1),
  );
});

test("a type that stands twice and an interface of nine members are found", () => {
  const members = Array.from("abcdefghi", (name) => `  readonly ${name}: string;\n`).join("");
  const sources = [
    readSource("src/a.ts", `export interface Wide {\n${members}}\n`),
    readSource("src/b.ts", "type Wide = string;\nexport const b = 1;\n"),
  ];
  const found = { interfacesOfMoreThanEightMembers: 1, typeNamesThatStandTwice: 1 };
  expect(sizeOf(sources)).toMatchObject(found);
});
