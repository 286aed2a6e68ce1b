import { describe, expect, test } from "vitest";
import { cutArray, cutList, idOf } from "../../src/json/cut.ts";
import { decimalText, integerOf, jsonEquals, numberLiteral, NumberLiteral } from "../../src/json/literal.ts";
import { parseLossless } from "../../src/json/lossless.ts";
import { describeCharacter } from "../../src/json/scan.ts";
import { maxDepth } from "../../src/json/scan.ts";
import { asDoubles } from "../support/json/json.ts";

const deep = (levels: number) => Buffer.from("[".repeat(levels) + "]".repeat(levels));

describe("cutting", () => {
  test("takes the paginator and no other member", () => {
    const body = '{"before":1,"paginator":{"page":2},"data":[],"after":3}';
    expect(cutList(Buffer.from(body)).paginator).toEqual({ page: 2 });
  });

  test.each([
    [0xef, 0x20, 0x20],
    [0xef, 0xbb, 0x20],
    [0xef, 0x20, 0xbf],
    [0x20, 0x20, 0xbf],
    [0x20, 0xbb, 0xbf],
  ])("takes a part of a byte order mark for none: %i %i %i", (...mark) => {
    expect(() => cutArray(Buffer.from([...mark, 0x5b, 0x5d]))).toThrow("expected an array, found 0x");
  });

  test("refuses one level too many where it begins", () => {
    expect(cutArray(deep(maxDepth + 1)).count).toBe(1);
    expect(() => cutArray(deep(maxDepth + 2))).toThrow(`at byte ${maxDepth + 1} expected`);
  });

  test("finds a string's end behind an escaped quote or backslash at any place", () => {
    for (let before = 0; before < 9; before++)
      for (let after = 0; after < 9; after++)
        for (const escape of [String.raw`\"`, String.raw`\\`, String.raw`\\\"`]) {
          const text = `"${"x".repeat(before)}${escape}${"[".repeat(after)}"`;
          const records = [`{"a":${text}}`, text];
          const slices = cutArray(Buffer.from(`[${records.join(",")}]`));
          expect([...slices].map(({ slice }) => slice.toString())).toEqual(records);
        }
  });

  test("follows strings and brackets only, whatever stands between them", () => {
    const records = ["[z]", "[|]", "[\\]", "[Z]", "{~:^}"];
    const slices = cutArray(Buffer.from(`[${records.join(",")}]`));
    expect([...slices].map(({ slice }) => slice.toString())).toEqual(records);
  });
});

describe("a record's id", () => {
  test.each([
    ['{"a":"id","12":5}', null],
    ['{"id":"1:2"}', null],
    ['{"id":"01"}', null],
    ['{"id":"0"}', "0"],
    ['{"id":"-9223372036854775808"}', "-9223372036854775808"],
    ['{"id":123456789012345678901}', null],
    ['{"id":12345678901234567890}', "12345678901234567890"],
  ])("of %s is %s", (record, id) => {
    expect(idOf(Buffer.from(record))).toBe(id);
  });
});

const integer = (text: string) => integerOf(numberLiteral(text));

describe("numbers", () => {
  test("are written out up to a thousand places", () => {
    const places = decimalText(new NumberLiteral("1e999"));
    expect(places).toBe(`1${"0".repeat(999)}`);
    expect(decimalText(new NumberLiteral("1e1000"))).toBe("1e1000");
    expect(decimalText(new NumberLiteral("12e-999"))).toBe("12e-999");
  });

  test("beyond 64 bits are no integers", () => {
    expect(integer("9223372036854775807")).toBe(9_223_372_036_854_775_807n);
    expect([integer("9223372036854775808"), integer("1e19"), integer("1e400")]).toEqual([null, null, null]);
  });

  test("that no double holds are read beside any number of lists and objects", () => {
    const many = Array.from({ length: maxDepth + 100 }, (_, i) => (i % 2 === 0 ? "[]" : "{}"));
    for (const wrap of [(text: string) => `[${text}]`, (text: string) => `[[${text}]]`]) {
      const read = parseLossless(wrap(`${many.join(",")},9007199254740993`));
      expect(asDoubles(read)).toEqual(JSON.parse(wrap(`${many.join(",")},9007199254740992`)));
    }
  });
});

test.each([
  [new NumberLiteral("1e400"), "1e400"],
  [[], { length: 0 }],
  [["x"], { length: 1, 0: "x" }],
  [
    { a: 1, b: 2 },
    { a: 1, b: 3 },
  ],
])("%j and %j are not equal, on whichever side", (a, b) => {
  expect([jsonEquals(a, b), jsonEquals(b, a)]).toEqual([false, false]);
});

test.each([
  [0x20, "0x20"],
  [0x21, '"!"'],
  [0x7e, '"~"'],
  [0x7f, "0x7F"],
  [0x0a, "0x0A"],
  [undefined, "the end"],
])("a message shows the character %s as %s", (code, shown) => {
  expect(describeCharacter(code)).toBe(shown);
});
