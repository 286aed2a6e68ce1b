import { expect, test } from "vitest";
import { valueText } from "../../src/cli/commands/upkeep/verify.ts";

// Fault: data | a name with terminal escapes, C1 controls and marks that turn text | a difference that verify prints | escapes as text, shortened
test("a value that differs is printed as text that cannot move the cursor, colour the screen or turn the line", () => {
  const shown = valueText("a\u001b[2Jb\u009b31mc\u202ed\u2028e");
  expect(shown).toBe(String.raw`"a\u001b[2Jb\x9b31mc\u202ed\u2028e"`);
  expect(valueText("x".repeat(1_000)).length).toBe(200);
  expect(valueText(9007199254740993n)).toBe("9007199254740993");
});
