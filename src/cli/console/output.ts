import { MirrorError } from "../../base/errors.ts";
import { safeJson, terminalText } from "../../base/terminal-text.ts";
import { NumberLiteral } from "../../json/literal.ts";

export interface DataStream {
  write(text: string, done: (error?: Error | null) => void): boolean;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
  /** True for a terminal; the width is that of now. */
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** Characters; a longer line hides what follows it. */
const longestLine = 4_000;

export type Output = ReturnType<typeof createOutput>;

/** Data for stdout. A reader that closed its end (`| head`) is no error: nothing more is written. */
export function createOutput(stream: DataStream) {
  const closed = new AbortController();
  let target = stream;
  let used = false;
  let broken: Error | null = null;
  const fail = (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") closed.abort();
    else broken = error;
  };
  stream.on("error", fail);
  /**
   * Writes a text and a line break. Resolves when the system has taken it, so that a slow reader slows the writer down.
   * @throws MirrorError `runtime` when it cannot be written, as on a full disk
   */
  const write = async (text: string): Promise<void> => {
    if (closed.signal.aborted) return;
    used = true;
    await new Promise<void>((resolve) => {
      target.write(`${text}\n`, (error) => {
        if (error) fail(error);
        resolve();
      });
    });
    if (broken) throw new MirrorError("runtime", `stdout cannot be written: ${broken.message}`);
  };
  /** Writes a line for people, or several: what comes from data cannot move the cursor or colour the screen. */
  const line = (text: string) => {
    const lines = text.split("\n").map((one) => terminalText(one, longestLine));
    return write(lines.join("\n"));
  };
  /** Writes the one document of `--json` as one line. Record ids beyond 2^53 are written as numbers. */
  const json = (value: unknown) => write(safeJson(JSON.stringify(value, exactNumbers)));
  return {
    line,
    json,
    jsonText: (text: string) => write(safeJson(text)),
    /** Columns of the terminal; null where stdout is none. */
    get columns() {
      return stream.isTTY === true ? stream.columns || 80 : null;
    },
    /** Has everything from now on written here instead. */
    through(other: DataStream) {
      target = other;
      other.on("error", fail);
    },
    get used() {
      return used;
    },
    /** Aborts when the reader closed its end. */
    closed: closed.signal,
  };
}

export function exactNumbers(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? new NumberLiteral(String(value)).toJSON() : value;
}
