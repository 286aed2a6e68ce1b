import { expect, test } from "vitest";
import { connectorKeepsToItself, knowsNoConnector, libraryInItsFolder, pointsDown } from "./layers.ts";
import { fileCircles } from "./folders.ts";
import { cleanText, wellNamed } from "./code-rules.ts";
import { readSource } from "./read-source.ts";

const rules = {
  pointsDown,
  knowsNoConnector,
  connectorKeepsToItself,
  libraryInItsFolder,
  cleanText,
  wellNamed,
};
const sandbox = "connectors/fintoro/sandbox/sandbox.ts";
const fintoro = "connectors/fintoro/declaration.ts";

/** That they leave alone what is right, the whole project shows. */
test.each<[rule: keyof typeof rules, file: string, code: string]>([
  ["pointsDown", "src/base/clock.ts", 'import type { B } from "../cli/run.ts";'],
  ["pointsDown", "src/cli/commands/a.ts", 'import "../../nowhere/b.ts";'],
  ["pointsDown", "src/extra/a.ts", ""],
  ["knowsNoConnector", "src/sync/run.ts", 'export { d } from "../../connectors/fintoro/declaration.ts";'],
  ["knowsNoConnector", "src/main.ts", 'const f = await import("../test/support/program/cli.ts");'],
  ["connectorKeepsToItself", fintoro, 'import {\n  c,\n} from "../../src/http/http.ts";'],
  ["connectorKeepsToItself", fintoro, 'import { x } from "./sandbox/sandbox.ts";'],
  ["connectorKeepsToItself", sandbox, 'import { x } from "../declaration.ts";'],
  ["connectorKeepsToItself", sandbox, 'import { x } from "../../../src/connector/resource.ts";'],
  ["libraryInItsFolder", "src/sync/run.ts", 'import { x } from "undici";'],
  ["libraryInItsFolder", "src/store/a.ts", 'import { x } from "@scope/thing/inner";'],
  ["wellNamed", "src/a/my_file.ts", ""],
  ["wellNamed", "src/a/string-util.ts", ""],
  ["cleanText", "src/a/a.ts", 'const quote = /"/.test(`"`); test.skipIf(true)("a", () => {});'],
  ["cleanText", "src/a/a.ts", 'console.log("a");'],
  ["cleanText", "src/a/a.ts", "/* oxlint-disable no-console */"],
])("a rule bites: %s complains of %s with %j", (rule, file, code) => {
  expect(rules[rule](readSource(file, code)).length).toBeGreaterThan(0);
});

test("circles are found, however long, and once", () => {
  const ring = [
    readSource("src/a/a.ts", 'import { x } from "../b/b.ts";'),
    readSource("src/b/b.ts", 'import { x } from "../c/c.ts";\nimport { y } from "./d.ts";'),
    readSource("src/c/c.ts", 'import type { X } from "../a/a.ts";'),
    readSource("src/b/d.ts", ""),
  ];
  expect(fileCircles(ring)).toEqual(["src/a/a.ts -> src/b/b.ts -> src/c/c.ts -> src/a/a.ts"]);
  expect(fileCircles(ring.slice(1))).toEqual([]);
});
