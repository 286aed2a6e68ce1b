import { terminalText } from "../../base/terminal-text.ts";

/** Text that is HTML already. Only `html` makes it. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a template may contain. Text is escaped; nothing stands for null and false; a list is joined. */
export type Piece = Html | string | number | null | false | readonly Piece[];

/**
 * Template of HTML. Every value is escaped, in text and in quoted attributes; control characters and marks that turn the
 * direction of text are shown as escapes. An attribute without quotes is not safe.
 */
export function html(parts: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return new Html(parts.map((part, i) => (i === 0 ? part : textOf(values[i - 1] ?? null) + part)).join(""));
}

function textOf(piece: Piece): string {
  if (piece === null || piece === false) return "";
  if (piece instanceof Html) return piece.text;
  if (typeof piece === "number") return String(piece);
  return typeof piece === "string" ? escaped(piece) : piece.map(textOf).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return terminalText(text).replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** A value from outside: at most so many characters are shown. */
export function cut(text: string, most = 120): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}
