import { spawn } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import path from "node:path";
import type { DataStream } from "./output.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A terminal that is read page by page. */
export interface PagedStream extends DataStream {
  /** The pager has the terminal, and Ctrl-C with it. */
  readonly isOpen: boolean;
  /** Waits until the reader has seen enough; shows at once what fits the terminal. Never rejects. */
  end(): Promise<void>;
}

/** Where text is paged. */
export interface PagerOptions {
  readonly terminal: DataStream;
  readonly env: Env;
  /** `--no-pager` says no. */
  readonly isWanted: boolean;
}

/**
 * Puts a pager before a terminal, for text that does not fit it: `$PAGER`, otherwise `less -FRX`. Null: none is wanted, it is
 * not there, or stdout is no terminal that a person looks at.
 */
export function openPager({ terminal, env, isWanted }: PagerOptions): PagedStream | null {
  const command = pagerCommand(env);
  const isLooked = terminal.isTTY === true && env["TERM"] !== "dumb" && (env["CI"] ?? "") === "";
  return isWanted && isLooked && command !== null ? new Pager(terminal, command, env) : null;
}

function pagerCommand(env: Env): string | null {
  const command = env["PAGER"] ?? "less -FRX";
  const [program = ""] = command.trim().split(/\s+/);
  if (program === "" || program === "cat") return null;
  // What a shell must take apart is left to it.
  return /["'$\\]/.test(program) || isProgram(program, env["PATH"] ?? "") ? command : null;
}

function isProgram(name: string, searchPath: string): boolean {
  const folders = name.includes("/") ? [""] : searchPath.split(path.delimiter);
  return folders.some((folder) => {
    try {
      const file = path.join(folder, name);
      accessSync(file, constants.X_OK);
      return statSync(file).isFile();
    } catch {
      return false;
    }
  });
}

class Pager implements PagedStream {
  private readonly terminal: DataStream;
  private readonly command: string;
  private readonly env: Env;
  private kept = "";
  private keptRows = 0;
  private child: ReturnType<typeof startPager> | null = null;

  constructor(terminal: DataStream, command: string, env: Env) {
    this.terminal = terminal;
    this.command = command;
    this.env = env;
  }

  get isOpen(): boolean {
    return this.child !== null;
  }

  /** Errors reach the writer through `done`. */
  on(): void {}

  write(text: string, done: (error?: Error | null) => void): boolean {
    if (this.child) return this.child.write(text, done);
    this.kept += text;
    this.keptRows += rowsOf(text, this.terminal.columns || 80);
    // One row is the shell's next prompt.
    if (this.keptRows < (this.terminal.rows || 24)) {
      done();
      return true;
    }
    this.child = startPager(this.command, this.env);
    return this.child.write(this.kept, done);
  }

  async end(): Promise<void> {
    if (this.child) return this.child.end();
    if (this.kept === "") return;
    await new Promise<void>((resolve) => void this.terminal.write(this.kept, () => resolve()));
  }
}

function rowsOf(text: string, columns: number): number {
  const lines = text.replace(/\n$/, "").split("\n");
  return lines.reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / columns)), 0);
}

function startPager(command: string, env: Env) {
  const child = spawn(command, {
    shell: true,
    env: { LESS: "FRX", ...env },
    stdio: ["pipe", "inherit", "inherit"],
  });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  // A reader that had enough is no error; the writer hears of it when it writes.
  child.stdin.on("error", () => undefined);
  return {
    // However the system names it: who reads has gone.
    write: (text: string, done: (error?: Error | null) => void) =>
      child.stdin.write(text, (error) => done(error ? Object.assign(error, { code: "EPIPE" }) : null)),
    end: () => {
      child.stdin.end();
      return ended;
    },
  };
}
