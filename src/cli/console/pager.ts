import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { canDraw } from "../../log/screen.ts";
import type { DataStream } from "./output.ts";

/** A shell starts it: it reports a pager that is not there with 127, and the text is shown without one. */
const usualPager = "if command -v less >/dev/null; then less; else cat; fi";

/** Puts `$PAGER`, otherwise `less -FRX`, before a terminal at the first text. Null: a person does not look, or wants none. */
export function openPager(terminal: DataStream, env: NodeJS.ProcessEnv) {
  const command = env["PAGER"] ?? usualPager;
  if (!canDraw(terminal, env) || ["", "cat"].includes(command.trim())) return null;
  // However the system names it: a reader that had enough is no error.
  const gone = Object.assign(new Error("the pager has ended"), { code: "EPIPE" });
  let onGone: ((error: Error) => void) | null = null;
  let child: ChildProcess | null = null;
  let ended: Promise<unknown> = Promise.resolve();
  const start = () => {
    child = spawn(`${command}\n[ $? -ne 127 ] || exec cat`, {
      shell: true,
      env: { LESS: "FRX", ...env },
      stdio: ["pipe", "inherit", "inherit"],
    });
    // The writer hears of it when it writes.
    child.stdin?.on("error", () => undefined);
    ended = once(child, "close")
      .catch(() => undefined)
      .then(() => onGone?.(gone));
    return child;
  };
  return {
    /** The pager has the terminal, and Ctrl-C with it. */
    get isOpen() {
      return child !== null;
    },
    on: (_: "error", listener: (error: Error) => void) => (onGone = listener),
    write: (text: string, done: (error?: Error | null) => void) =>
      (child ?? start()).stdin?.write(text, (error) => done(error ? gone : null)) ?? false,
    /** Waits until the reader has seen enough. Never rejects. */
    end: async () => {
      child?.stdin?.end();
      await ended;
    },
  };
}
