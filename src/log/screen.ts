/** As much of `process.stderr` as is used. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/**
 * The one writer of stderr: lines scroll by, below them stands a block that is drawn over. On anything but
 * a terminal there is no block. `close` always leaves a clean line and a visible cursor.
 */
export interface Screen {
  readonly live: boolean;
  readonly columns: number;
  readonly rows: number;
  line(text: string): void;
  block(lines: readonly string[]): void;
  close(): void;
}

const hideCursor = "\u001B[?25l";
const showCursor = "\u001B[?25h";
const clearBelow = "\u001B[J";
const clearRight = "\u001B[K";

export function createScreen(stream: OutputStream, live: boolean): Screen {
  let drawn: readonly string[] = [];
  let begun = false;
  const home = () => (drawn.length === 0 ? "" : `\u001B[${drawn.length}A\r`);
  return {
    live,
    get columns() {
      return stream.columns ?? 80;
    },
    get rows() {
      return stream.rows ?? 24;
    },
    line(message) {
      if (drawn.length === 0) stream.write(`${message}\n`);
      else stream.write(`${home()}${clearBelow}${message}\n${drawing(drawn)}`);
    },
    block(lines) {
      if (!live) return;
      stream.write(`${begun ? "" : hideCursor}${home()}${drawing(lines)}${clearBelow}`);
      begun = true;
      drawn = lines;
    },
    close() {
      if (!begun) return;
      stream.write(`${home()}${clearBelow}${showCursor}`);
      begun = false;
      drawn = [];
    },
  };
}

function drawing(lines: readonly string[]): string {
  return lines.map((line) => `${line}${clearRight}\n`).join("");
}

/** Is there a person to draw for, with a terminal that can move its cursor? */
export function canDraw(stream: OutputStream, env: Readonly<Record<string, string | undefined>>): boolean {
  return stream.isTTY === true && env["TERM"] !== "dumb" && (env["CI"] ?? "") === "";
}

/** https://no-color.org: any value but an empty one turns colours off. */
export function wantsColour(
  stream: OutputStream,
  env: Readonly<Record<string, string | undefined>>,
  flag: boolean,
): boolean {
  return flag && stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}
