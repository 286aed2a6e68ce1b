import { spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { runCommand, startProgram } from "../program/cli.ts";
import type { Block } from "./docs.ts";
import { outputOf, processEnv } from "../program/process-env.ts";
import { portToKeep } from "../program/serve-process.ts";
import { eventually } from "../eventually.ts";

/** Where the blocks of one page are carried out: a folder with a config and a mirror, and a service. */
export interface PageEnvironment {
  readonly folder: string;
  readonly baseUrl: string;
  readonly token: string;
}

type Variables = Record<string, string>;

/** What stands in place of words that are true on the reader's machine only. */
interface PageShell extends PageEnvironment {
  readonly variables: Variables;
  readonly ports: ReadonlyMap<string, number>;
  readonly started: Started[];
  readonly mishaps: Mishap[];
  readonly missing: string[];
}

interface Started {
  readonly child: ChildProcess;
  output(): string;
}

/** A line that did not end as its page promises. */
interface Mishap {
  readonly line: string;
  readonly code: number | null;
  readonly output: string;
}

const program = /^(?:npx )?fintoro-mirror +(.*)$/;
/** They run until they are stopped. */
const lasting = /^(?:serve|sandbox --|changes .*--follow)/;

/**
 * Carries out the blocks of a page in their order: shell lines, config files that have a name, Python where its
 * modules are installed. Stops the processes that the page leaves running.
 *
 * @returns what failed, and the modules without which Python was left out
 */
export async function runPage(blocks: readonly Block[], environment: PageEnvironment) {
  const ports = new Map<string, number>();
  for (const port of ["8080", "8787"]) ports.set(port, await portToKeep());
  const shell: PageShell = {
    ...environment,
    ports,
    started: [],
    variables: { FINTORO_TOKEN: environment.token },
    mishaps: [],
    missing: [],
  };
  try {
    for (const block of blocks) {
      if (block.marks[0] === "not-run" || block.marks[0] === "run-by") continue;
      if (block.marks[0] === "needs" || block.language === "python") runForeign(shell, block);
      else if (block.language === "sh")
        for (const line of commandLines(block.text)) await runLine(shell, line);
      if (block.language === "yaml" && block.marks[0]?.endsWith(".yaml"))
        writeFileSync(path.join(shell.folder, block.marks[0]), here(shell, block.text));
    }
  } finally {
    await Promise.all(shell.started.map(stop));
  }
  return shell;
}

function commandLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.replace(/(^|\s)#.*$/, "").trim())
    .filter((line) => line !== "");
}

/** Ports, folders and dates of the page as they are in the test. */
function here({ ports, folder }: PageShell, text: string): string {
  const local = [...ports].reduce((all, [port, free]) => all.replaceAll(`:${port}`, `:${free}`), text);
  return local.replaceAll(/(?<=^|\s)\/backup\//g, `${folder}/backup/`);
}

async function runLine(shell: PageShell, line: string): Promise<void> {
  const [, assignments = "", rest = ""] = /^((?:[A-Z_]+=\S+ )*)(.*)$/.exec(line) ?? [];
  const exported = /^export (.*)$/.exec(rest)?.[1];
  if (exported !== undefined) {
    Object.assign(shell.variables, variablesOf(shell, exported));
    return;
  }
  const args = program.exec(rest)?.[1];
  if (args === undefined) throw new Error(`not a command that a test can run: ${line}`);
  const words = argsOf(shell, args);
  const env = { ...shell.variables, ...variablesOf(shell, assignments) };
  if (lasting.test(words.join(" "))) return startLasting(shell, line, words, env);
  const { code, stdout, stderr } = await runCommand(words, { cwd: shell.folder, env });
  if (code !== 0) shell.mishaps.push({ line, code, output: `${stdout}${stderr}` });
}

/** A value that ends with an ellipsis is one that the reader was given. */
function variablesOf(shell: PageShell, text: string): Variables {
  const pairs = [...text.matchAll(/([A-Z_]+)=('[^']*'|\S+)/g)];
  return Object.fromEntries(
    pairs.map(([, name = "", value = ""]) => {
      const plain = value.replaceAll("'", "");
      return [name, plain.endsWith("…") ? givenToken(shell) : plain];
    }),
  );
}

function givenToken({ started, token }: PageShell): string {
  const printed = started.map((one) => /token:? +(\S+)/m.exec(one.output())?.[1]);
  return printed.find((one) => one !== undefined) ?? token;
}

function argsOf(shell: PageShell, text: string): string[] {
  const words = here(shell, text).match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  const args = words.map((word) => word.replaceAll(/^["']|["']$/g, ""));
  return adapted(shell, args);
}

/** Answers in place of a person, and less of what only takes time. */
function adapted({ baseUrl, ports }: PageShell, args: readonly string[]): string[] {
  const [command, second] = args;
  const port = String(ports.get("8080"));
  if (command === "init") {
    const given = ["--no-input", "--force", "--token-env", "FINTORO_TOKEN", "--base-url", baseUrl];
    return ["init", "--company", "acme", ...given];
  }
  if (command === "sandbox" && second === "--port") return ["sandbox", "--port", port, "--limit", "6000"];
  if (command === "sandbox" && args.includes("--port")) return args.with(args.indexOf("--port") + 1, port);
  if (args.includes("LOG:SEQ")) return args.with(args.indexOf("LOG:SEQ"), "0");
  if (command === "sandbox" && second === "tick") return [...args, "--duration", "1s", "--changes", "5"];
  return [...args];
}

async function startLasting(shell: PageShell, line: string, args: readonly string[], env: Variables) {
  const port = shell.ports.get(args[0] === "serve" ? "8787" : "8080") ?? 0;
  const where = args[0] === "serve" ? ["--listen", `127.0.0.1:${port}`] : [];
  const child = startProgram([...args, ...where], { cwd: shell.folder, env });
  const written = outputOf(child);
  const output = () => written.stdout + written.stderr;
  shell.started.push({ child, output });
  // Any answer will do.
  const answers = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status > 0;
  await eventually(
    () => child.exitCode !== null || answers(),
    () => `${line}: ${output()}`,
  );
  if (child.exitCode !== null) shell.mishaps.push({ line, code: child.exitCode, output: output() });
}

async function stop({ child }: Started): Promise<void> {
  if (child.exitCode !== null) return;
  const closed = once(child, "close");
  child.kill("SIGTERM");
  await closed;
}

/** As a reader runs it: Python, or a program such as the shell of SQLite, where what it needs is installed. */
function runForeign({ folder, mishaps, missing }: PageShell, { language, marks, text }: Block): void {
  const isPython = language === "python";
  const interpreter = isPython ? (process.env["DOCS_PYTHON"] ?? "python3") : "sh";
  const run = (code: string) =>
    spawnSync(interpreter, ["-c", code], { cwd: folder, env: processEnv(), encoding: "utf8" });
  const needed = isPython ? marks : marks.slice(1);
  const probe = isPython ? "import" : "command -v";
  const lacking = needed.filter((name) => run(`${probe} ${name}`).status !== 0);
  missing.push(...lacking);
  if (lacking.length > 0) return;
  const { status, stdout, stderr } = run(text);
  if (status !== 0) mishaps.push({ line: text, code: status, output: `${stdout}${stderr}` });
}
