import { spawn, type ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { longestWaitMs } from "../eventually.ts";

const compiled = fileURLToPath(new URL("../../../node_modules/.cache/compiled", import.meta.url));

/** The entry file of the program that tests start: bundled where Vitest runs them, else the source. */
export const program =
  process.env["BUILT_PROGRAM"] ?? fileURLToPath(new URL("../../../src/main.ts", import.meta.url));

/**
 * What a process of a test gets of ours, and nothing else: no token and no config of whoever runs the tests. The
 * compile cache halves the start of each of them.
 */
export function processEnv(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = "", NODE_COMPILE_CACHE = compiled } = process.env;
  return { PATH, NODE_COMPILE_CACHE, ...more };
}

export interface Start {
  readonly cwd?: string;
  /** Besides what every process of a test gets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of the program itself. */
  readonly file?: string;
  /** @default {@link longestWaitMs} */
  readonly mostMs?: number | undefined;
  readonly nodeOptions?: readonly string[];
  /** Open until it is ended. @default none */
  readonly stdin?: "pipe";
  /** For messages. @default false */
  readonly channel?: boolean;
  readonly uid?: number;
  readonly gid?: number;
}

/** What a process has written so far, from now on. */
export function outputOf(child: ChildProcess): { readonly stdout: string; readonly stderr: string } {
  const written = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]?.setEncoding("utf8").on("data", (text: string) => (written[name] += text));
  return written;
}

/** The program as a process of its own; ended by force after `mostMs`, whatever it does. */
export function spawnProgram(args: readonly string[], start: Start): ChildProcess {
  const { env, file = program, mostMs = longestWaitMs, nodeOptions = [], ...others } = start;
  const { stdin = "ignore", channel = false, ...own } = others;
  return spawn(process.execPath, [...nodeOptions, file, ...args], {
    ...own,
    env: processEnv(env),
    stdio: [stdin, "pipe", "pipe", ...(channel ? (["ipc"] as const) : [])],
    timeout: mostMs,
    killSignal: "SIGKILL",
  });
}
