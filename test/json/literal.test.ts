import { assert, property } from "fast-check";
import { describe, expect, test } from "vitest";
import {
  decimalText,
  integerOf,
  isExact,
  jsonEquals,
  NumberLiteral,
  numberLiteral,
  objectIn,
  stringifyLossless,
} from "../../src/json/literal.ts";
import { parseLossless } from "../../src/json/lossless.ts";
import { exactValue, numberText } from "../support/json/json.ts";

describe("a number literal", () => {
  test("becomes a number exactly when no digit of its value is lost, whatever the writing", () => {
    assert(
      property(numberText, (text) => {
        const value = numberLiteral(text);
        if (value instanceof NumberLiteral) expect(value.text).toBe(text);
        expect(typeof value === "number").toBe(exactValue(String(Number(text))) === exactValue(text));
      }),
      { numRuns: 3000 },
    );
  });

  test("that looks like one is never an exact number", () => {
    for (const text of ["1-2", "1.2.3", "2026-11-21", "1e", "Infinity"]) expect(text).not.toSatisfy(isExact);
  });

  test("is written by JSON.stringify as it was read, not as a string", () => {
    const record = { id: new NumberLiteral("9007199254740993"), list: [new NumberLiteral("1e400"), 1.5] };
    expect(stringifyLossless(record)).toBe('{"id":9007199254740993,"list":[1e400,1.5]}');
    expect(stringifyLossless(new NumberLiteral("1e400"))).toBe("1e400");
  });
});

test.each([
  ['{"a":1}', { a: 1 }],
  ["[1]", {}],
  ["null", {}],
  ["{", {}],
])("the object in the text %s is %j", (text, object) => {
  expect(objectIn(text)).toEqual(object);
});

describe("the decimal text of an amount", () => {
  test.each([
    [0, "0"],
    [-0, "0"],
    [1.5, "1.5"],
    [1e21, "1000000000000000000000"],
    [1.5e-7, "0.00000015"],
    [123n, "123"],
    [new NumberLiteral("-0.1000000000000000055000"), "-0.1000000000000000055"],
  ])("of %s is %s", (value, text) => {
    expect(decimalText(value)).toBe(text);
  });

  test("has the literal's value and no exponent", () => {
    assert(
      property(numberText, (text) => {
        const decimal = decimalText(new NumberLiteral(text));
        expect(exactValue(decimal)).toBe(exactValue(text));
        if (decimal !== text) expect(decimal).toMatch(/^-?\d+(\.\d+)?$/);
      }),
      { numRuns: 2000 },
    );
  });

  test("is written out up to a thousand places", () => {
    expect(decimalText(new NumberLiteral("1e999"))).toBe(`1${"0".repeat(999)}`);
    expect(decimalText(new NumberLiteral("1e1000"))).toBe("1e1000");
    expect(decimalText(new NumberLiteral("12e-999"))).toBe("12e-999");
    expect(decimalText(new NumberLiteral("1e-999999999"))).toBe("1e-999999999");
  });

  test("is refused for anything but an amount", () => {
    for (const value of [Number.NaN, Infinity]) expect(() => decimalText(value)).toThrow("finite");
  });
});

describe("the integer of a value", () => {
  test.each([
    [-0, 0],
    [2 ** 53, 2n ** 53n],
    [new NumberLiteral("-9223372036854775808"), -(2n ** 63n)],
    [new NumberLiteral("1152921504606846976.0"), 2n ** 60n],
    [new NumberLiteral("9223372036854775807"), 2n ** 63n - 1n],
  ])("%s is %s", (value, integer) => {
    expect(integerOf(value)).toBe(integer);
  });

  const beyond = ["9223372036854775808", "1e400"].map((text) => new NumberLiteral(text));

  test.each([1.5, Number.NaN, "17", ...beyond])("%s is none", (value) => expect(integerOf(value)).toBeNull());

  test("is not looked for in a literal that would fill the memory", () => {
    expect(integerOf(new NumberLiteral("1e999999999"))).toBeNull();
    expect(integerOf(new NumberLiteral("0.5000000000000000000001"))).toBeNull();
  });
});

test.each([
  ['{"a":1,"b":[1.50,{"c":null}]}', '{"b":[1.5,{"c":null}],"a":1}', true],
  ['{"a":1.00000000000000000000000001}', '{"a":1.000000000000000000000000010}', true],
  ['{"a":1,"more":2}', '{"a":1,"other":3}', true],
  ["[]", "[]", true],
  ['{"a":null}', '{"a":{}}', false],
  ['{"a":[1]}', '{"a":[1,2]}', false],
  ['{"a":[1,2]}', '{"a":[1,3]}', false],
  ['{"a":1.00000000000000000000000001}', '{"a":1.00000000000000000000000002}', false],
  ["1e400", '"1e400"', false],
  ["1e400", '{"text":"1e400"}', false],
  ['["x"]', '{"length":1,"0":"x"}', false],
  ['{"a":1,"b":2}', '{"a":1,"b":3}', false],
])("%s and %s say the same wherever both say something: %s", (one, other, isSame) => {
  const [a, b] = [parseLossless(one), parseLossless(other)];
  expect([jsonEquals(a, b), jsonEquals(b, a)]).toEqual([isSame, isSame]);
});
