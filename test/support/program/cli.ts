import type { ChildProcess } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { declaration } from "../../../connectors/fintoro/declaration.ts";
import { fakturoid } from "../../../connectors/fakturoid/declaration.ts";
import { knownFakturoid } from "../../../connectors/fakturoid/known.ts";
import { systemClock } from "../../../src/base/clock.ts";
import { seededRandom } from "../seeded-random.ts";
import type {
  Command,
  CommandContext,
  Connector,
  ConnectorEntry,
  ProcessEnvironment,
} from "../../../src/cli/program/command.ts";
import { commands } from "../../../src/cli/commands/all-commands.ts";
import type { CommandEnding } from "../../../src/cli/program/exit-code.ts";
import type { DataStream } from "../../../src/cli/console/output.ts";
import { createInvocation } from "../../../src/cli/program/invocation.ts";
import { createTerminal, jumpingClock } from "../terminal/terminal.ts";
import { outputOf, spawnProgram, type Start } from "./process-env.ts";
import { tempFolder } from "../temporary-folder.ts";

export const root = fileURLToPath(new URL("../../..", import.meta.url));

/** A folder of its own for one test, gone afterwards. `files` by name. */
export function temporaryFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = tempFolder();
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real program as a process of its own; it ends with the test at the latest. */
export function startProgram(args: readonly string[], start: Start = {}): ChildProcess {
  const child = spawnProgram(args, { cwd: temporaryFolder(), ...start });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

export async function runProgram(args: readonly string[], start: Start = {}): Promise<Ended> {
  return endOf(startProgram(args, start));
}

export async function endOf(child: ChildProcess): Promise<Ended> {
  const written = outputOf(child);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...written };
}

/** The first line on stdout; fails with what the program said when it ends before. */
export async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("the program has no stdout");
  const line = once(createInterface({ input: child.stdout }), "line") as Promise<[string]>;
  const first = await Promise.race([line, endOf(child)]);
  if (!Array.isArray(first)) throw new Error(`the program ended: ${first.stderr}`);
  return first[0];
}

/** Every line as the JSON document it must be. */
export function jsonLines(text: string): Record<string, unknown>[] {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The same of a log that is still written: without the line that is not whole yet. */
export function wholeLines(text: string): Record<string, unknown>[] {
  return jsonLines(text.slice(0, text.lastIndexOf("\n") + 1));
}

export const binFile = path.join(root, "bin/fintoro-mirror.js");

export function commandThat(
  act: (context: CommandContext) => Promise<CommandEnding> | CommandEnding,
  name = "act",
): Command {
  const run: Awaited<ReturnType<Command["load"]>> = async (context) => act(context);
  const load = () => Promise.resolve(run);
  return { name, summary: "for a test", config: "none", options: {}, examples: {}, load };
}

export interface CommandResult extends Ended {
  readonly code: number;
}

export interface InvocationParts extends Partial<ProcessEnvironment> {
  /** True when stderr is a terminal. */
  readonly terminal?: boolean;
}

function unable(): Promise<never> {
  return Promise.reject(new Error("there is no service in this test"));
}

/** A connector as the composition root gives it, loaded already. */
export function connectorEntry(
  parts: Pick<Connector, "startSandbox"> = { startSandbox: unable },
): ConnectorEntry {
  const { name, baseUrl, languages, resources } = declaration;
  return { name, baseUrl, languages, resources, load: () => Promise.resolve({ declaration, ...parts }) };
}

/** The second connector, without its stand-in. */
const secondEntry: ConnectorEntry = {
  ...knownFakturoid,
  // Its stand-in runs as a process of its own.
  load: () => Promise.resolve({ declaration: fakturoid, startSandbox: unable }),
};

/** The whole command line in this process, over streams that keep what is written. */
export function createTestInvocation(
  argv: readonly string[],
  { terminal = false, ...parts }: InvocationParts = {},
) {
  const screen = createTerminal();
  const written = { stdout: "", stderr: "" };
  const stdout: DataStream = {
    isTTY: terminal,
    columns: 60,
    on: () => undefined,
    write: (text, done) => {
      written.stdout += text;
      done();
      return true;
    },
  };
  const stderr = {
    isTTY: terminal,
    columns: 120,
    rows: 30,
    write: (text: string) => {
      written.stderr += text;
      screen.write(text);
    },
  };
  const signals = new EventEmitter();
  const ended: number[] = [];
  const invocation = createInvocation({
    argv,
    env: {},
    cwd: "/nowhere",
    stdout,
    stderr,
    signals,
    readInput: () => Promise.resolve(""),
    endNow: (code) => ended.push(code),
    clock: jumpingClock(),
    random: seededRandom(1),
    version: "1.2.3",
    commands: [],
    connectors: [connectorEntry(), secondEntry],
    exampleConfig: () => readFileSync(path.join(root, "config.example.yaml"), "utf8"),
    ...parts,
  });
  const run = async (): Promise<CommandResult> => ({ code: await invocation.run(), ...written });
  return { run, invocation, signals, ended, screen, written };
}

/** Runs a command line whose `act` command does `act`. */
export async function runAct(
  argv: readonly string[],
  act: (context: CommandContext) => Promise<CommandEnding> | CommandEnding,
  parts: InvocationParts = {},
): Promise<CommandResult> {
  return createTestInvocation(argv, { commands: [commandThat(act)], ...parts }).run();
}

/** Runs a real command in this process, on the real clock. */
export async function runCommand(argv: readonly string[], parts: InvocationParts = {}) {
  return createTestInvocation(argv, { commands, clock: systemClock, ...parts }).run();
}
