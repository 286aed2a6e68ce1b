import { expect, test } from "vitest";
import { createOutput } from "../../src/cli/console/output.ts";
import { valueText } from "../../src/cli/commands/upkeep/verify.ts";

/** Turns the terminal red, clears it, and turns the direction of what follows. */
const hostile = "Acme\u001b[31m\u001b[2J\u009b1A\u202egpj.exe";
const unsafe = /[^\P{Cc}\n]|[\u202a-\u202e\u2028]/u;

// Fault: webhook | a name with control characters and turns of direction | data that a command prints | escapes, on the terminal and in JSON
test("nothing that a command prints can move the cursor, colour the screen or turn a line's direction", async () => {
  const written: string[] = [];
  const write = (text: string, done: () => void) => {
    done();
    return written.push(text) > 0;
  };
  const output = createOutput({ write, on: () => undefined });
  await output.line(`company ${hostile}`);
  await output.line("below\nit");
  await output.json({ name: hostile });
  await output.jsonText(JSON.stringify({ name: hostile }));
  expect(written.filter((text) => unsafe.test(text))).toEqual([]);
  expect(written[0]).toBe(String.raw`company Acme\x1b[31m\x1b[2J\x9b1A\u202egpj.exe` + "\n");
  expect(written[1]).toBe("below\nit\n");
  for (const text of written.slice(2)) expect(JSON.parse(text)).toEqual({ name: hostile });
});

// Fault: data | a name with terminal escapes, C1 controls and marks that turn text | a difference that verify prints | escapes as text, shortened
test("a value that differs is printed as text that cannot move the cursor, colour the screen or turn the line", () => {
  const shown = valueText("a\u001b[2Jb\u009b31mc\u202ed\u2028e");
  expect(shown).toBe(String.raw`"a\u001b[2Jb\x9b31mc\u202ed\u2028e"`);
  expect(valueText("x".repeat(1_000)).length).toBe(200);
  expect(valueText(9007199254740993n)).toBe("9007199254740993");
});
