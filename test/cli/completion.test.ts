import { spawnSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { commands } from "../../src/cli/commands/all-commands.ts";
import { shells } from "../../src/cli/program/completion.ts";
import { connectorEntry, runCommand, temporaryFolder, type InvocationParts } from "../support/program/cli.ts";
import { processEnv, program } from "../support/program/process-env.ts";
import { startOnTerminal } from "../support/terminal/pseudo-terminal.ts";

const withCompanies = () =>
  temporaryFolder({ "config.yaml": "companies: { acme: { token: x }, beta: { token: y } }\n" });

/** What is offered after the words of a line; the last one is being typed. */
async function offered(line: string, cwd = withCompanies(), parts: InvocationParts = {}) {
  const words = ["completion", "zsh", "--", ...line.split(" ")];
  const { code, stdout, stderr } = await runCommand(words, { cwd, ...parts });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").flatMap((each) => (each === "" ? [] : (each.split(":")[0] ?? "")));
}

const oddNames = ["$(touch x)", "a b", "`id`", "a;id", "it's", 'a"b', "a\\b", "a\nb", "~", "*", ":files", ""];

describe("completion offers", () => {
  test("every command, and below a word the commands that begin with it", async () => {
    const words = new Set(commands.map(({ name }) => name.split(" ")[0] ?? ""));
    expect(new Set(await offered(""))).toEqual(words);
    expect(await offered("webhooks re")).toEqual(["replay"]);
    expect(await offered("help stat")).toEqual(["status"]);
  });

  test("options of the command and of the program", async () => {
    expect(await offered("sync --max-")).toEqual(["--max-requests", "--max-duration"]);
    expect(await offered("check --comp")).toEqual(["--company"]);
    expect(await offered("export --to x --t")).toEqual(["--to"]);
    expect(await offered("status ")).toContain("--max-age");
  });

  test.each([
    ["export --format ", ["csv", "parquet", "jsonl", "xlsx"]],
    ["export --format=p", ["--format=parquet"]],
    ["--log-format pr", ["pretty"]],
    ["sync invoi", ["invoices"]],
    ["sync invoices invoi", []],
    ["export v_rece", ["v_receivables"]],
    ["changes --resource clie", ["clients"]],
    ["fleet add ", ["acme", "beta"]],
    ["fleet remove acme b", ["beta"]],
    ["--company acme,", ["acme,beta"]],
    ["sandbox trigger invoices.p", ["invoices.paid"]],
    ["webhooks update ", []],
    ["sync --frobnicate invoi", ["invoices"]],
  ])("values and names after %j", async (line, names) => {
    const all = await offered(line);
    expect(all.filter((one) => !one.startsWith("--") || line.includes("="))).toEqual(names);
  });

  test("the companies of the config that the line names", async () => {
    const cwd = temporaryFolder({ "other.yaml": "companies: { gamma: {} }\n" });
    expect(await offered("-c other.yaml status --company ", cwd)).toEqual(["gamma"]);
    expect(await offered("status --config=other.yaml --company g", cwd)).toEqual(["gamma"]);
  });

  test("tables of the connector that the config or the line names", async () => {
    const cwd = temporaryFolder({ "config.yaml": "connector: other\n" });
    const resources = [{ name: "visits", list: { kind: "whole" } }];
    const other = { ...connectorEntry(), name: "other", resources };
    const parts = { connectors: [connectorEntry(), other] as const };
    expect(await offered("sync ", cwd, parts)).toEqual(["visits"]);
    expect(await offered("sync ", undefined, parts)).toContain("invoices");
    expect(await offered("schema --connector ot", cwd, parts)).toEqual(["other"]);
  });

  test("nothing, and says nothing, where the config is missing or broken", async () => {
    expect(await offered("status --company ", temporaryFolder())).toEqual([]);
    const broken = temporaryFolder({ "config.yaml": "companies: [\n" });
    expect(await offered("status --company ", broken)).toEqual([]);
  });

  // Fault: data | names of companies that a shell would run, split or expand | the config of the folder | they are not offered
  test.each(shells)("no name that %s would read as more than a word", async (shell) => {
    const companies = Object.fromEntries([...oddNames, "acme"].map((name) => [name, {}]));
    const cwd = temporaryFolder({ "config.yaml": JSON.stringify({ companies }) });
    const words = ["completion", shell, "--", "status", "--company", ""];
    expect((await runCommand(words, { cwd })).stdout).toBe("acme\n");
  });
});

function installed(): { readonly cwd: string; readonly env: Record<string, string> } {
  const cwd = withCompanies();
  const file = path.join(cwd, "fintoro-mirror");
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`);
  chmodSync(file, 0o755);
  return { cwd, env: { PATH: `${cwd}:${process.env["PATH"] ?? ""}`, HOME: cwd } };
}

/** How each shell is asked without a person: what it offers for a line that is being typed. */
const questions = {
  zsh: String.raw`compdef() { :; }; _describe() { print -l -- "$\{(@)lines%%:*}"; }
    source <(fintoro-mirror completion zsh)
    ask() { words=("$@") CURRENT=$#; _fintoro-mirror; }
    ask fintoro-mirror status --company a; ask fintoro-mirror export --format=pa`,
  fish: String.raw`fintoro-mirror completion fish | source
    complete -C "fintoro-mirror status --company a"; complete -C "fintoro-mirror export --format=pa"`,
};

/** bash is asked at a terminal; the others where they are installed. */
const present = (["zsh", "fish"] as const).filter((shell) => spawnSync(shell, ["-c", "true"]).status === 0);

test.each(present)("%s itself completes by its script", (shell) => {
  const quiet = { zsh: ["-f"], fish: ["--no-config"] }[shell];
  const { cwd, env } = installed();
  const script = questions[shell].replaceAll("\\{", "{");
  const options = { cwd, env: processEnv(env), encoding: "utf8" } as const;
  const { stdout, stderr } = spawnSync(shell, [...quiet, "-c", script], options);
  expect([stdout.replace("--format=", ""), stderr]).toEqual(["acme\nparquet\n", ""]);
});

test("at a terminal, Tab completes the word, and names of files", async () => {
  const { cwd, env } = installed();
  const terminal = startOnTerminal("exec bash --norc --noprofile -i", { cwd, env: { ...env, PS1: "$ " } });
  terminal.type("source <(fintoro-mirror completion bash); echo re''ady\r");
  await terminal.seen("ready\r\n");
  terminal.type("fintoro-mirror export v_recei\t");
  await terminal.seen("export v_receivables ");
  terminal.type("--format=pa\t");
  await terminal.seen("--format=parquet ");
  terminal.type("--config con\t");
  await terminal.seen("--config config.yaml ");
});
