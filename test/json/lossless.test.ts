import { describe, expect, test, vi } from "vitest";
import { NumberLiteral, type JsonObject } from "../../src/json/literal.ts";
import { assertUtf8, mayLosePrecision, parseLossless } from "../../src/json/lossless.ts";
import { maxDepth } from "../../src/json/scan.ts";
import { errorOf } from "../support/errors.ts";

describe("parsing without loss", () => {
  test("keeps the numbers that JSON.parse would change, and only those", () => {
    const text =
      '{"id":9007199254740993,"rate":0.1000000000000000055,"big":[1e400,1e22],"price":0.10,"n":-0}';
    expect(parseLossless(text)).toEqual({
      id: new NumberLiteral("9007199254740993"),
      rate: new NumberLiteral("0.1000000000000000055"),
      big: [new NumberLiteral("1e400"), 1e22],
      price: 0.1,
      n: -0,
    });
    expect(parseLossless("[[9007199254740993]]")).toEqual([[new NumberLiteral("9007199254740993")]]);
  });

  test("uses the native parser unless a number would be lost", () => {
    const native = vi.spyOn(JSON, "parse");
    parseLossless('{"sum":0.30000000000000004,"iban":"SK3112000000198742637541","id":"ab1e400"}');
    expect(native).toHaveBeenCalledOnce();
    native.mockRestore();
  });

  // Fault: data | keys in escapes that JSON.parse may confuse with earlier ones | bytes of a record | read as they are written
  test("reads an escaped key correctly, where JSON.parse may confuse it with an earlier one", () => {
    for (const [met, text, key] of [
      ['{"h":[],"\\\\":0}', '{"h":1,"\\"":2}', '"'],
      ['{"i":[],"x\\\\":0}', '{"i":1,"x\\n" :2}', "x\n"],
      ['{"j":[],"\\\\":0}', '[{"k":"\\\\"},{"j":1,"\\r"\n:2}]', "\r"],
    ] as const) {
      JSON.parse(met);
      const record = [parseLossless(text)].flat().at(-1);
      expect(Object.keys(record as JsonObject)[1]).toBe(key);
    }
  });

  test.each([
    ["", 0, "a value", "the end"],
    ["\ufeff1", 0, "a value", "0xEF"],
    ["1 2", 2, "nothing after the document", '"2"'],
    ["01", 0, "a value", '"0"'],
    ['"a', 2, "the rest of a string", "the end"],
    ['"\\', 2, "the rest of a string", "the end"],
    ['"a\n"', 0, "a well-formed string", '"""'],
    ["[1,\u00a02]", 3, "a value", "0xC2"],
    ['["č","🐎",x]', 13, "a value", '"x"'],
  ])("of %j is refused at byte %i", (text, at, expected, found) => {
    const error = errorOf(() => parseLossless(Buffer.from(text)));
    expect(error).toMatchObject({ kind: "protocol", retryable: true });
    expect(error.message).toContain(`at byte ${at} expected ${expected}, found ${found}`);
    expect(errorOf(() => parseLossless(text)).message).toBe(error.message);
  });

  test("counts the bytes of a fault from the beginning of the answer when it is given whole", () => {
    expect(errorOf(() => parseLossless(Buffer.from("[9,1,[1,]"), 5)).message).toContain("at byte 8 ");
  });

  test.each([
    ["lists", "[", "]", ""],
    ["objects with a number that is kept", '{"n":9007199254740993,"a":', "}", "1"],
  ])(`holds %s ${maxDepth} levels deep and refuses deeper ones`, (_, open, close, core) => {
    const nested = (depth: number) => `${open.repeat(depth)}${core}${close.repeat(depth)}`;
    expect(() => parseLossless(nested(maxDepth))).not.toThrow();
    expect(errorOf(() => parseLossless(nested(maxDepth + 1))).message).toContain(
      `at most ${maxDepth} levels`,
    );
    expect(errorOf(() => parseLossless(nested(100_000))).message).toContain(`at most ${maxDepth} levels`);
  });

  test("uses the native parser for ones that are just not too deep, among any others", () => {
    const deep = `${"[".repeat(maxDepth - 1)}"a"${"]".repeat(maxDepth - 1)}`;
    const text = `[null,1,"b",${deep},${"{},".repeat(maxDepth)}"c"]`;
    const native = vi.spyOn(JSON, "parse");
    parseLossless(text);
    expect(native).toHaveBeenCalledOnce();
    native.mockRestore();
  });

  test("of a literal or string of megabytes ends, right or wrong", () => {
    const long = "1".repeat(2_000_000);
    expect(parseLossless(long)).toEqual(new NumberLiteral(long));
    expect(parseLossless(`["${long}",1.${"0".repeat(2_000_000)}]`)).toEqual([long, 1]);
    expect(errorOf(() => parseLossless(`${long}x`)).message).toContain("at byte 2000000 ");
    expect(errorOf(() => parseLossless(`"${long}`)).message).toContain("the rest of a string");
    expect(errorOf(() => parseLossless(`["${"1e400".repeat(400_000)}`)).kind).toBe("protocol");
  });
});

describe("the check for UTF-8", () => {
  test("passes any text, a byte order mark and an unpaired surrogate's escape included", () => {
    for (const text of ["", "abc", "Žltý kôň 🐎", "\ufeff{}", '"\\ud83d"']) assertUtf8(Buffer.from(text));
  });

  test.each([
    ["a letter of another code page", [0x22, 0xe8, 0x22], 1],
    ["a surrogate in bytes", [0x22, 0x61, 0xed, 0xa0, 0x80, 0x22], 2],
    ["a letter written too long", [0xc0, 0xaf], 0],
  ])("refuses %s and says where", (_, bytes, at) => {
    const error = errorOf(() => assertUtf8(Buffer.from(bytes)));
    expect(error).toMatchObject({ kind: "protocol", retryable: true });
    expect(error.message).toContain(`at byte ${at} expected UTF-8, found 0x`);
  });
});

test.each([
  '{"a":"\\n","b":1}',
  '{"sum":0.30000000000000004,"rate":123456789.12345}',
  '{"iban":"SK3112000000198742637541","id":"ab1e400"}',
  '{"phone":" 0905123456-1, 2026-11-22"}',
  '"9007199254740993"',
])("the native parser is trusted with %s", (text) => expect(text).not.toSatisfy(mayLosePrecision));

test.each([
  "9007199254740993",
  "[-9007199254740993]",
  "[1.0000000000000000,9007199254740993]",
  " -1.23456789012345671",
  "[1E-400]",
  "1e-0400",
  "1e+400",
  '{"a":1.000000000000000000001}',
  '{"a":1e400}',
  '{"\\"x":2}',
  '{"a\\nbc" :2}',
  '{"a":"\\\\","\\u0069d":2}',
])("the native parser is not trusted with %s", (text) => expect(text).toSatisfy(mayLosePrecision));

test("a long run of digits is looked at once, not at each of its characters", () => {
  for (const text of [`["${"1".repeat(20_000)}"]`, `[1.${"0".repeat(20_000)}]`])
    expect(text).not.toSatisfy(mayLosePrecision);
});
