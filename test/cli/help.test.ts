import type { Command as Node } from "commander";
import { describe, expect, test } from "vitest";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { commandTree, examplesOf, readCommandLine, wordsOf } from "../../src/cli/program/command-line.ts";
import { helpGroups } from "../../src/cli/program/command-table.ts";
import { runCommand } from "../support/program/cli.ts";
import { aCompany } from "../support/company/company.ts";
import { writeServeConfig } from "../support/program/serve.ts";

function nodesBelow(node: Node): Node[] {
  return [node, ...node.commands.flatMap(nodesBelow)];
}

const nodes = nodesBelow(commandTree(commands, "1.2.3")).map((node) => wordsOf(node).join(" "));

/** Without what belongs to the shell. */
const argsOf = (line: string) => line.replace(/ >.*/, "").split(" ");

function helpOf(name: string, columns?: number): string {
  const request = readCommandLine(`${name} --help`.trim().split(" "), commands, "1.2.3", columns);
  return typeof request === "string" ? request : "no text";
}

const widest = (text: string) => Math.max(...text.split("\n").map((line) => line.length));

describe("the help of every command", () => {
  test("has its options and those of the program", () => {
    for (const part of ["--max-duration <duration>", "--company <name>", "[resource...]"])
      expect(helpOf("sync")).toContain(part);
  });

  test.each(nodes)("ends with two examples that the program takes: %s", (name) => {
    const shown = helpOf(name).split("\nExamples:\n")[1]?.split("\n") ?? [];
    expect(shown.filter((line) => line.startsWith("  # "))).toHaveLength(2);
    const lines = shown.filter((line) => line.startsWith("  fintoro-mirror "));
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const request = readCommandLine(argsOf(line.trim().slice(15)), commands, "1.2.3");
      expect(typeof request !== "string" && `${request.command.name} `.startsWith(name)).toBe(true);
    }
  });

  test.each(nodes)("fits 80 columns, and 64: %s", (name) => {
    expect(widest(helpOf(name, 200))).toBeLessThanOrEqual(80);
    const prose = helpOf(name, 64).split("\nExamples:\n")[0] ?? "";
    expect(widest(prose)).toBeLessThanOrEqual(64);
  });

  test("is as wide as the terminal that shows it", async () => {
    const { stdout } = await runCommand(["schema", "--help"], { terminal: true });
    expect(widest(stdout.split("\nExamples:\n")[0] ?? "")).toBeLessThanOrEqual(60);
  });

  test("that lists them has each under the task it is for, and one line for each", () => {
    const words = new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""));
    expect([...words].filter((word) => !helpGroups.has(word))).toEqual([]);
    expect([...helpGroups.keys()].filter((word) => !words.has(word))).toEqual([]);
    expect(helpOf("").match(/^\S.*:$/gm)).toEqual(["Options:", ...new Set(helpGroups.values()), "Examples:"]);
  });
});

/** Commands whose examples need no other machine, end by themselves, and take well under a second. */
const cheap = ["check", "sync", "status", "changes", "prune", "schema"];

test("the examples of what is asked for every day do what they say", async () => {
  const company = writeServeConfig(await aCompany({ records: 2 }));
  const lines = cheap.flatMap((name) => examplesOf(commands, [name])).map(([args]) => args);
  const ending = lines.filter((line) => !line.includes("--follow"));
  expect(ending.length).toBeGreaterThan(9);
  const codes = new Map<string, number>();
  for (const line of ["sync", ...ending])
    codes.set(line, (await runCommand(argsOf(line), { cwd: company.folder })).code);
  expect([...codes].filter(([, code]) => code !== 0)).toEqual([]);
});
