/** Control characters, line separators, and marks that turn the direction of text. */
const unsafe = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Text from outside as one line that is safe to print: it cannot move the cursor, colour the screen or turn the
 * direction of a line. Unsafe characters become escapes such as `\x1b` or `\u202e`; what is longer than
 * `maxLength` ends with `…`. Redact secrets before: a cut secret is not found any more.
 */
export function terminalText(text: string, maxLength = Infinity): string {
  const safe = text.replace(unsafe, escape);
  return safe.length <= maxLength ? safe : `${safe.slice(0, maxLength - 1).toWellFormed()}…`;
}

/** A line as lines that fit: broken at spaces, what follows two further to the right. A longer word stays whole. */
export function wrappedLine(line: string, columns: number): string[] {
  const margin = /^ */.exec(line)?.[0] ?? "";
  const lines: string[] = [];
  let rest = line;
  while (rest.length > columns) {
    const at = rest.lastIndexOf(" ", columns);
    const end = at > margin.length + 2 ? at : rest.indexOf(" ", columns);
    if (end < 0) break;
    lines.push(rest.slice(0, end));
    rest = `${margin}  ${rest.slice(end + 1)}`;
  }
  return [...lines, rest];
}

export function alignedColumn(cells: readonly string[], isRight = false): string[] {
  const width = cells.reduce((most, cell) => Math.max(most, cell.length), 0);
  return cells.map((cell) => (isRight ? cell.padStart(width) : cell.padEnd(width)));
}

/** A value from outside within a line: safe to print, and at most 200 characters. */
export function shortText(value: string): string {
  return terminalText(value, 200);
}

/** JSON with unsafe characters as escapes. The value stays the same: JSON has them in texts only. */
export function safeJson(json: string): string {
  return json.replace(unsafeInText, (character) => {
    const hex = (character.codePointAt(0) ?? 0).toString(16);
    return `\\u${hex.padStart(4, "0")}`;
  });
}

/** JSON itself has line breaks and spaces between values, and no other control character below U+0020. */
const unsafeInText = /[\p{Zl}\p{Zp}\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

function escape(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code < 0x100 ? `\\x${hex.padStart(2, "0")}` : `\\u${hex.padStart(4, "0")}`;
}
