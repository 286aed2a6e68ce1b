import { describe, expect, test } from "vitest";
import { connectorKeepsToItself, knowsNoConnector, libraryInItsFolder, pointsDown } from "./layers.ts";
import { fileCircles } from "./folders.ts";
import { cleanText, wellNamed } from "./code-rules.ts";
import { readSource } from "./read-source.ts";

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
    expect([comments, lines]).toEqual(["// y: any\n/* c: any */", 3]);
  });
});

const rules = {
  pointsDown,
  knowsNoConnector,
  connectorKeepsToItself,
  libraryInItsFolder,
  cleanText,
  wellNamed,
};

/** That they leave alone what is right, the whole project shows. */
describe("rules bite", () => {
  test.each<[rule: keyof typeof rules, file: string, target: string]>([
    ["pointsDown", "src/base/clock.ts", "../cli/run.ts"],
    ["pointsDown", "src/cli/commands/a.ts", "../../nowhere/b.ts"],
    ["knowsNoConnector", "src/sync/run.ts", "../../connectors/fintoro/declaration.ts"],
    ["knowsNoConnector", "src/main.ts", "../test/support/program/cli.ts"],
    ["connectorKeepsToItself", "connectors/fintoro/declaration.ts", "../../src/http/http.ts"],
    ["connectorKeepsToItself", "connectors/fintoro/declaration.ts", "./sandbox/sandbox.ts"],
    ["connectorKeepsToItself", "connectors/fintoro/sandbox/sandbox.ts", "../declaration.ts"],
    ["connectorKeepsToItself", "connectors/fintoro/sandbox/sandbox.ts", "../../../src/connector/resource.ts"],
    ["libraryInItsFolder", "src/sync/run.ts", "undici"],
    ["libraryInItsFolder", "src/store/a.ts", "@scope/thing/inner"],
  ])("%s: %s may not import %s", (rule, file, target) => {
    expect(rules[rule](importing(file, target)).length).toBeGreaterThan(0);
  });

  test.each<[rule: keyof typeof rules, file: string, code: string]>([
    ["pointsDown", "src/extra/a.ts", ""],
    ["wellNamed", "src/a/my_file.ts", ""],
    ["wellNamed", "src/a/string-util.ts", ""],
    ["cleanText", "src/a/a.ts", 'test.skipIf(true)("a", () => {});'],
    ["cleanText", "src/a/a.ts", 'console.log("a");'],
    ["cleanText", "src/a/a.ts", "/* oxlint-disable no-console */"],
  ])("%s: %s may not be written %s", (rule, file, code) => {
    expect(rules[rule](readSource(file, code))).toHaveLength(1);
  });

  test("circles are found, however long, and once", () => {
    const ring = [
      importing("src/a/a.ts", "../b/b.ts"),
      importing("src/b/b.ts", "../c/c.ts", "./d.ts"),
      importing("src/c/c.ts", "../a/a.ts"),
      importing("src/b/d.ts"),
    ];
    expect(fileCircles(ring)).toEqual(["src/a/a.ts -> src/b/b.ts -> src/c/c.ts -> src/a/a.ts"]);
    expect(fileCircles(ring.slice(1))).toEqual([]);
  });
});
