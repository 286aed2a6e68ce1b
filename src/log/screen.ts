import { stripVTControlCharacters } from "node:util";

export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

export type Screen = ReturnType<typeof createScreen>;

const hideCursor = "\u001B[?25l";
const showCursor = "\u001B[?25h";
const clearBelow = "\u001B[J";
const clearRight = "\u001B[K";

/**
 * The only writer of stderr: lines that scroll, and below them, if `live`, a block that is redrawn. `close` leaves an
 * empty line and a visible cursor.
 */
export function createScreen(stream: OutputStream, live: boolean) {
  let drawn: readonly string[] = [];
  let begun = false;
  // A terminal that became narrower has wrapped what was drawn.
  const rowsOf = (line: string) =>
    Math.max(1, Math.ceil(stripVTControlCharacters(line).length / columnsOf(stream)));
  const home = () => {
    const rows = drawn.reduce((sum, line) => sum + rowsOf(line), 0);
    return rows === 0 ? "" : `\u001B[${rows}A\r`;
  };
  return {
    live,
    get columns() {
      return columnsOf(stream);
    },
    get rows() {
      return stream.rows || 24;
    },
    line(message: string) {
      if (drawn.length === 0) stream.write(`${message}\n`);
      else stream.write(`${home()}${clearBelow}${message}\n${drawing(drawn)}`);
    },
    block(lines: readonly string[]) {
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

/** A terminal that does not know its size says 0. */
function columnsOf({ columns }: OutputStream): number {
  return columns || 80;
}

function drawing(lines: readonly string[]): string {
  return lines.map((line) => `${line}${clearRight}\n`).join("");
}

/** Is the stream a terminal that can move its cursor, outside CI? */
export function canDraw(stream: Pick<OutputStream, "isTTY">, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && env["TERM"] !== "dumb" && (env["CI"] ?? "") === "";
}

/** Colours are off without a terminal, by flag, and by a non-empty NO_COLOR (https://no-color.org). */
export function wantsColour(stream: OutputStream, env: NodeJS.ProcessEnv, flag: boolean): boolean {
  return flag && stream.isTTY === true && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}
