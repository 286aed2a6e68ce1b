import * as fc from "fast-check";
import { expect, test } from "vitest";
import { terminalText } from "../../src/base/terminal-text.ts";

test.each([
  ["colours", "\u001b[31mred", String.raw`\x1b[31mred`],
  ["moves of the cursor", "a\r\u009bb\u0007", String.raw`a\x0d\x9bb\x07`],
  ["line breaks of all kinds", "a\nb\u2028c", String.raw`a\x0ab\u2028c`],
  ["turns of direction", "a\u202eb\u200f", String.raw`a\u202eb\u200f`],
])("escapes %s", (_, text, expected) => {
  expect(terminalText(text)).toBe(expected);
});

test("leaves other text as it is", () => {
  expect(terminalText("Žltý kôň, 漢字 🎉")).toBe("Žltý kôň, 漢字 🎉");
});

test("shortens to the given length, never within a character", () => {
  expect(terminalText("abcdef", 6)).toBe("abcdef");
  expect(terminalText("abcdefg", 6)).toBe("abcde…");
  const texts = fc
    .array(fc.constantFrom("a", "ž", "🎉", "漢", "\u0301", "\n", "\u202e", " "))
    .map((all) => all.join(""));
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 20 }), (text, maxLength) => {
      const shown = terminalText(text, maxLength);
      return shown.length <= maxLength && shown.isWellFormed();
    }),
  );
});
