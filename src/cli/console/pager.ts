import { spawn } from "node:child_process";
import type { DataStream } from "./output.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** A terminal that is read page by page. */
export interface PagedStream extends DataStream {
  /** The pager has the terminal, and Ctrl-C with it. */
  readonly isOpen: boolean;
  /** Waits until the reader has seen enough. Never rejects. */
  end(): Promise<void>;
}

/** A shell starts it: it reports a pager that is not there with 127, and the text is shown without one. */
const usualPager = "if command -v less >/dev/null; then less; else cat; fi";

/** Puts `$PAGER`, otherwise `less -FRX`, before a terminal at the first text. Null: a person does not look, or wants none. */
export function openPager(terminal: DataStream, env: Env): PagedStream | null {
  const command = env["PAGER"] ?? usualPager;
  const isLooked = terminal.isTTY === true && env["TERM"] !== "dumb" && (env["CI"] ?? "") === "";
  if (!isLooked || ["", "cat"].includes(command.trim())) return null;
  let child: ReturnType<typeof startPager> | null = null;
  let onGone: ((error: Error) => void) | null = null;
  return {
    get isOpen() {
      return child !== null;
    },
    on: (_, listener) => (onGone = listener),
    write: (text, done) =>
      (child ??= startPager(command, env, () => onGone?.(readerGone()))).write(text, done),
    end: async () => child?.end(),
  };
}

/** However the system names it: a reader that had enough is no error. */
function readerGone(): Error {
  return Object.assign(new Error("the pager has ended"), { code: "EPIPE" });
}

function startPager(command: string, env: Env, onEnd: () => void) {
  const child = spawn(`${command}\n[ $? -ne 127 ] || exec cat`, {
    shell: true,
    env: { LESS: "FRX", ...env },
    stdio: ["pipe", "inherit", "inherit"],
  });
  const ended = new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  void ended.then(onEnd);
  // The writer hears of it when it writes.
  child.stdin.on("error", () => undefined);
  return {
    write: (text: string, done: (error?: Error | null) => void) =>
      child.stdin.write(text, (error) => done(error ? readerGone() : null)),
    end: () => {
      child.stdin.end();
      return ended;
    },
  };
}
