import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { processEnv } from "../program/process-env.ts";
import { eventually, longestWaitMs } from "../eventually.ts";

export interface TerminalOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

/** Runs a line of `sh` on a real pseudo-terminal, made by script(1) of util-linux. */
export function startOnTerminal(line: string, { cwd, env = {}, columns = 80, rows = 24 }: TerminalOptions) {
  const size = `stty cols ${columns} rows ${rows}`;
  const child = spawn("script", ["-qfec", `${size}; ${line}`, "/dev/null"], {
    cwd,
    env: processEnv({ TERM: "xterm", SHELL: "/bin/sh", ...env }),
    stdio: ["pipe", "pipe", "inherit"],
    timeout: longestWaitMs,
    killSignal: "SIGKILL",
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let shown = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (shown += text));
  const ended = new Promise<number | null>((resolve) => void child.once("close", resolve));
  let isOver = false;
  void ended.then(() => (isOver = true));
  return {
    /** As a person types it: `\r` is Enter, `\t` Tab, `\u0003` Ctrl-C. */
    type: (keys: string) => void child.stdin.write(keys),
    shown: () => shown,
    /** Resolves when the terminal has shown it; rejects when the program ended without. */
    seen: async (text: string | RegExp) => {
      const isThere = () => (typeof text === "string" ? shown.includes(text) : text.test(shown));
      await eventually(() => isThere() || isOver, `${String(text)} at the terminal`);
      if (!isThere())
        throw new Error(`the terminal never showed ${String(text)}, but ${JSON.stringify(shown)}`);
    },
    ended,
  };
}
