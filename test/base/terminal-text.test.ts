import * as fc from "fast-check";
import { expect, test } from "vitest";
import { terminalText } from "../../src/base/terminal-text.ts";

test("shows what moves the cursor, colours, breaks a line or turns its direction as escapes, and no other text", () => {
  const shown = terminalText("Žltý kôň, 漢字 🎉\u001b[31mred\r\u009b\u0007\n\u2028\u202e\u200f");
  expect(shown).toBe(String.raw`Žltý kôň, 漢字 🎉\x1b[31mred\x0d\x9b\x07\x0a\u2028\u202e\u200f`);
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
