import { expect, test } from "vitest";
import { mayLosePrecision } from "../../src/json/lossless.ts";

/** The check looks at some characters only: each text is tried at every distance from them. */
const indents = Array.from({ length: 32 }, (_, length) => " ".repeat(length));

test.each([
  '{":a":"x"}',
  '{"a":"\\n","b":1}',
  '["\\"\\\\"]',
  '["a\\u010d", "b", ":"]',
  '{"sum":0.30000000000000004,"rate":123456789.12345}',
  '{"iban":"SK3112000000198742637541","id":"ab1e400"}',
  '{"phone":" 0905123456-1, 2026-11-22"}',
  '"9007199254740993"',
])("the native parser is trusted with %s", (text) => {
  for (const indent of indents) expect(mayLosePrecision(indent + text)).toBe(false);
});

test.each([
  "9007199254740993",
  "[9007199254740993]",
  '{"a":1.000000000000000000001}',
  '{"a":1e400}',
  '{"\\"x":2}',
  '{"a\\nbc" :2}',
  '{"a":"\\\\","\\u0069d":2}',
])("the native parser is not trusted with %s", (text) => {
  for (const indent of indents) expect(mayLosePrecision(indent + text)).toBe(true);
});

test("a long run of digits is looked at once, not at each of its characters", () => {
  for (const text of [`["${"1".repeat(20_000)}"]`, `[1.${"0".repeat(20_000)}]`])
    expect(mayLosePrecision(text)).toBe(false);
});
