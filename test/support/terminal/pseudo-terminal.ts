import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { processEnv } from "../program/process-env.ts";
import { longestWaitMs } from "../eventually.ts";

/** How the terminal looks to the program. */
export interface TerminalOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
}

/** Runs a line of `sh` on a real pseudo-terminal, made by script(1) of util-linux; ended after 20 s. */
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
  const waiting = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
    for (const look of waiting) look();
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", (code) => {
      resolve(code);
      for (const look of waiting) look();
    });
  });
  return {
    /** As a person types it: `\r` is Enter, `\t` Tab, `\u0003` Ctrl-C. */
    type: (keys: string) => void child.stdin.write(keys),
    /** Everything that was written to the terminal so far. */
    shown: () => shown,
    /** Resolves when the terminal has shown it since the character `from`; rejects when the program ended without. */
    seen: (text: string | RegExp, from = 0) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          const rest = shown.slice(from);
          const isThere = typeof text === "string" ? rest.includes(text) : text.test(rest);
          if (!isThere && child.exitCode === null) return;
          waiting.delete(look);
          if (isThere) resolve();
          else reject(new Error(`the terminal never showed ${String(text)}, but ${JSON.stringify(rest)}`));
        };
        waiting.add(look);
        look();
      }),
    /** The program's exit code. */
    ended,
  };
}
