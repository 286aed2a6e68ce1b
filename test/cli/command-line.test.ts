import { Option, type Command as Node } from "commander";
import { describe, expect, test } from "vitest";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { selectResources } from "../../src/config/companies.ts";
import { commandTree, examplesOf, readCommandLine, wordsOf } from "../../src/cli/program/command-line.ts";
import { helpHeadings } from "../../src/cli/program/command-table.ts";
import { aCompany } from "../support/company/company.ts";
import { declarationOf } from "../support/mirror/mirror.ts";
import { runCommand } from "../support/program/cli.ts";
import { writeServeConfig } from "../support/program/serve.ts";

function read(line: string) {
  const request = readCommandLine(line.split(" "), commands, "1.2.3");
  if (typeof request === "string") throw new Error("a text was asked for");
  return { name: request.command.name, globals: request.globals, ...request.input };
}

const usual = {
  config: undefined,
  company: undefined,
  json: false,
  quiet: false,
  verbose: false,
  color: true,
  pager: true,
  logFormat: "auto",
};

describe("a command line", () => {
  test("gives the command, its arguments and its options with units and defaults", () => {
    expect(read("sync invoices clients --full --max-requests 50 --max-duration 30m")).toMatchObject({
      name: "sync",
      args: ["invoices", "clients"],
      options: { full: true, quick: false, maxRequests: 50, maxDuration: 1_800_000 },
    });
    const none = { maxRequests: undefined, maxDuration: undefined };
    expect(read("sync")).toMatchObject({ args: [], options: { full: false, scrub: true, ...none } });
    const usualExport = { format: "csv", out: undefined, to: [], language: "sk" };
    expect(read("export --language sk")).toMatchObject({ options: usualExport });
    expect(read("connector check").name).toBe("connector check");
  });

  test.each([
    "--json -c x.yaml --company acme -q --no-color --log-format json status",
    "status --json -c x.yaml --company acme -q --no-color --log-format json",
    "--json --config=x.yaml status --company=acme --quiet --no-color --log-format=json",
    "connector --json check -c x.yaml --company acme -q --no-color --log-format json",
  ])("takes the global options anywhere: %s", (line) => {
    const given = { config: "x.yaml", company: "acme", json: true, quiet: true, color: false };
    expect(read(line).globals).toEqual({ ...usual, ...given, logFormat: "json" });
  });

  test("names each company, also where the option is given several times", () => {
    expect(read("--company acme sync --company bolt,coda").globals.company).toBe("acme,bolt,coda");
  });

  test("without global options has their defaults", () => {
    expect(read("status").globals).toEqual(usual);
  });
});

test("I9: no option takes a token or a secret, which other users would see; but that of the made-up sandbox", () => {
  const flags = commands.flatMap(({ name, options }) =>
    Object.values(options as Readonly<Record<string, { readonly flags: string }>>).map(
      (option) => `${name} ${option.flags}`,
    ),
  );
  expect(flags.length).toBeGreaterThan(40);
  expect(flags.filter((one) => /token|secret|password|key/i.test(one))).toEqual([
    // The name of a variable and of a file.
    "init --token-env <name>",
    "init --token-file <file>",
    ...["list", "create", "update", "rotate", "delete"].map((verb) => `webhooks ${verb} --token-env <name>`),
    "backup --no-keys",
    "sandbox --secret <text>",
  ]);
});

test("options that exclude each other are those of their command", () => {
  const unknown = commands.flatMap(({ name, options, conflicts = [] }) => {
    const names = new Set(Object.values(options).map(({ flags }) => new Option(flags).attributeName()));
    return conflicts.flat().flatMap((one) => (names.has(one) ? [] : `${name} ${one}`));
  });
  expect(unknown).toEqual([]);
});

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

const widest = (shown: string) => Math.max(...shown.split("\n").map((line) => line.length));

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
      const taken = typeof request === "string" ? request : `${request.command.name} `;
      expect(taken.slice(0, name.length)).toBe(name);
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
    expect(Object.keys(helpHeadings).filter((word) => !words.has(word))).toEqual([]);
    const headings = Object.values(helpHeadings);
    expect(helpOf("").match(/^\S.*:$/gm)).toEqual(["Options:", ...headings, "Examples:"]);
  });
});

const chosen = (names: readonly string[], config: object = {}) => {
  const all = { include: null, exclude: [], parentsPerRun: {}, ...config };
  return selectResources(declarationOf(), all, names).map(({ name }) => name);
};

test("resources that are named come with what they own, unless the config leaves that out", () => {
  expect(chosen(["orders"])).toEqual(["orders", "receipts"]);
  expect(chosen(["orders"], { exclude: ["receipts", "orders"] })).toEqual(["orders"]);
  expect(chosen(["people", "orders"], { include: ["orders"] })).toEqual(["people", "orders"]);
  expect(chosen([], { include: ["orders"] })).toEqual(["orders"]);
  expect(chosen([], { exclude: ["orders"] })).not.toContain("orders");
  expect(chosen([])).toHaveLength(7);
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
