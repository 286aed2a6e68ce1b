import { MirrorError } from "../../base/errors.ts";

/** As much of `process.stdout` as is used. */
export interface DataStream {
  write(text: string, done: (error?: Error | null) => void): boolean;
  on(event: "error", listener: (error: NodeJS.ErrnoException) => void): unknown;
}

/** Data for stdout. A reader that went away (`| head`) is no error: nothing more is written. */
export interface Output {
  /** Resolves when the system has taken it, so that a slow reader slows the writer down. */
  line(text: string): Promise<void>;
  /** The one document of `--json`, in one line. Record ids beyond 2^53 are written as numbers. */
  json(value: unknown): Promise<void>;
  /** Something was written. */
  readonly used: boolean;
  /** Aborts when the reader went away. */
  readonly closed: AbortSignal;
}

export function createOutput(stream: DataStream): Output {
  const gone = new AbortController();
  let used = false;
  let broken: Error | null = null;
  const fail = (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") broken = error;
    gone.abort();
  };
  stream.on("error", fail);
  const line = async (text: string) => {
    if (gone.signal.aborted) return;
    used = true;
    await new Promise<void>((resolve) => {
      stream.write(`${text}\n`, (error) => {
        if (error) fail(error);
        resolve();
      });
    });
    if (broken) throw new MirrorError("stopped", `stdout cannot be written: ${broken.message}`);
  };
  return {
    line,
    json: (value) => line(JSON.stringify(value, exactNumbers)),
    get used() {
      return used;
    },
    closed: gone.signal,
  };
}

/** In every Node we run on, and not yet in TypeScript's library. */
interface RawJson {
  rawJSON(text: string): unknown;
}

function exactNumbers(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? (JSON as typeof JSON & RawJson).rawJSON(String(value)) : value;
}
