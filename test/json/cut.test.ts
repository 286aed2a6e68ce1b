import { describe, expect, test, vi } from "vitest";
import { cutArray, cutList, cutObject, idOf, isEmptyObject, valueOf } from "../../src/json/cut.ts";
import { NumberLiteral } from "../../src/json/literal.ts";
import { describeCharacter, maxDepth } from "../../src/json/scan.ts";
import { errorOf } from "../support/errors.ts";

const bytes = (text: string) => Buffer.from(text);
const textsOf = (slices: Iterable<{ slice: Buffer }>) => [...slices].map(({ slice }) => slice.toString());

const controlled = '{"paginator":{"a":"\u0007"},"data":[]}';
const deep = (levels: number) => Buffer.from("[".repeat(levels) + "]".repeat(levels));

describe("a list answer", () => {
  test("is cut into the unchanged bytes of its records; of the other members only the paginator is taken", () => {
    const body = bytes(
      '{"a":1,"data":[{"id":1, "total" : 1.50},\n\t{ "id":2 } ],"paginator":{"page":3},"z":4}',
    );
    const { records, paginator } = cutList(body);
    expect(textsOf(records)).toEqual(['{"id":1, "total" : 1.50}', '{ "id":2 }']);
    expect(paginator).toEqual({ page: 3 });
  });

  test("reads numbers that no double holds in its paginator, whatever follows it", () => {
    const { paginator } = cutList(bytes('{"paginator":{"total":9007199254740993},"data":[{"id":1}]}'));
    expect(paginator).toEqual({ total: new NumberLiteral("9007199254740993") });
  });

  // Fault: data | strings that hold brackets, quotes and escapes | bytes of a list | cut at the right places
  test.each([
    ["brackets and quotes", '{"a":"}]{[\\"}]"}'],
    ["a backslash at the end", '{"a":"\\\\","b":"\\\\\\""}'],
  ])("is not led astray by strings with %s", (_, record) => {
    expect(textsOf(cutList(bytes(`{"data":[${record},{"id":2}]}`)).records)).toEqual([record, '{"id":2}']);
  });

  test("of PHP without records holds an empty object, and has none", () => {
    expect(cutList(bytes('{"data":{}}')).records).toEqual([]);
  });

  // Fault: data | damaged JSON | bytes of a list | refused with the place
  test.each([
    ["nothing", "", 0, "an object", "the end"],
    ["an error page", "<html>", 0, "an object", '"<"'],
    ["no data", '{"a":1}', 6, '"data"', '"}"'],
    ["data that is an object", '{"data":{"0":1}}', 8, "an array", '"{"'],
    ["data that ends like an object", '{"data":[}}', 9, "a value", '"}"'],
    ["two data, one in disguise", '{"data":[1],"d\\u0061ta":[2]}', 12, 'only one "data"', '"""'],
    ["something after the document", '{"data":[]} {', 12, "nothing after the document", '"{"'],
    ["a record cut short", '{"data":[{"id":1', 16, "the rest of a value", "the end"],
    ["no comma between records", '{"data":[{} {}]}', 12, '"," or "]"', '"{"'],
    ["a comma before the end of the document", '{"data":[],}', 11, "a key", '"}"'],
    ["no colon", '{"data" []}', 8, '":"', '"["'],
    ["a key with a broken escape", '{"da\\xta":[]}', 1, "a well formed key", '"""'],
    ["a control character in the paginator", controlled, 18, "a well-formed string", '"'],
  ])("with %s is refused with the place and what was expected there", (_, text, at, expected, found) => {
    const error = errorOf(() => cutList(bytes(text)));
    expect(error).toMatchObject({ kind: "protocol", retryable: true });
    expect(error.message).toContain(`at byte ${at} expected ${expected}`);
    expect(error.message).toContain(`found ${found}`);
    expect(error.hint).toBeTruthy();
  });

  // Fault: secrets | damaged JSON with secrets in it | bytes of a list | the message has one character of it
  test("reports one character of a fault and no more: an answer may hold secrets", () => {
    const error = errorOf(() => cutList(bytes('{"data":[],"token":s3cret-token-value}')));
    expect(`${error.message} ${String(error.hint)} ${String(error.cause)}`).not.toContain("cret");
  });

  // Fault: data | a hundred thousand nested brackets | bytes of a list | refused, without running out of stack
  test.each([
    ["objects", '{"a":'],
    ["a member beside the list", '{"x":', '{"data":'],
  ])("of a hundred thousand %s is refused without running out of stack", (_, start, more = start) => {
    expect(errorOf(() => cutList(bytes(start + more.repeat(100_000)))).kind).toBe("protocol");
  });

  test("of a hundred thousand records is cut into as many, each with its id", () => {
    const body = bytes(`{"data":[${Array.from({ length: 100_000 }, (_, id) => `{"id":${id}}`).join(",")}]}`);
    const { records } = cutList(body);
    expect(records).toHaveLength(100_000);
    expect(textsOf(records.slice(-1))).toEqual(['{"id":99999}']);
    expect(records[54_321]?.id).toBe("54321");
  });
});

/** Both ways to it: of a record on its own, and of the same record in a list. */
function idsOf(record: string): (string | null)[] {
  const { records } = cutList(bytes(`{"data":[${record}]}`));
  return [idOf(bytes(record)), ...records.map(({ id }) => id)];
}

/** What is found where the JSON is whole, `any-bytes.test.ts` compares with the engine. */
describe("the id of a record", () => {
  test.each([
    ["followed by what is no JSON", '{"id":17!}'],
    ["no JSON", '{"id":017}'],
    ["longer than any integer of 64 bits", '{"id":123456789012345678901}'],
    ["not its key, and a key of as many characters is", '{"a":"id","12":5}'],
    ["of a text of an integer", '"5"'],
  ])("is null when %s", (_, record) => {
    expect(idsOf(record)).toEqual([null, null]);
  });

  test("is that of its own record, and no integer at the beginning of the answer", () => {
    const { records } = cutList(bytes('{"data":[{"id":1},{"name":"a"},{"id":3}]}'));
    expect([...records].map(({ id }) => id)).toEqual(["1", null, "3"]);
    expect([...cutArray(bytes('["7",{"a":1}]'))].map(({ id }) => id)).toEqual([null, null]);
  });

  test("is found without parsing a key, unless one may be it in escapes", () => {
    const native = vi.spyOn(JSON, "parse");
    const record = bytes('{"name":"a","currency":"EUR","id":1}');
    expect([idOf(record), native.mock.calls]).toEqual(["1", []]);
    native.mockRestore();
  });

  test("of half a record is not guessed", () => {
    expect(errorOf(() => idOf(bytes('{"id":17,"na'))).kind).toBe("protocol");
  });
});

describe("cutting", () => {
  test.each([
    [0xef, 0x20, 0xbf],
    [0x20, 0xbb, 0xbf],
    [0xef, 0xbb, 0x20],
  ])("takes a part of a byte order mark for none: %i %i %i", (...mark) => {
    expect(() => cutArray(Buffer.from([...mark, 0x5b, 0x5d]))).toThrow("expected an array, found 0x");
  });

  test("refuses one level too many where it begins", () => {
    expect(cutArray(deep(maxDepth + 1))).toHaveLength(1);
    expect(() => cutArray(deep(maxDepth + 2))).toThrow(`at byte ${maxDepth + 1} expected`);
  });

  test("follows strings and brackets only, whatever stands between them", () => {
    const records = ["[z]", "[|]", "[\\]", "[Z]", "{~:^}"];
    expect(textsOf(cutArray(bytes(`[${records.join(",")}]`)))).toEqual(records);
  });
});

test("slices share the answer's memory: cutting copies nothing", () => {
  const body = bytes('{"data":[{"id":1}]}');
  const [record] = cutList(body).records;
  expect(record?.slice.buffer).toBe(body.buffer);
  expect([Number(record?.slice.byteOffset) - body.byteOffset, record?.slice.length]).toEqual([9, 8]);
});

describe("a single object", () => {
  test("is found between white space and after a byte order mark", () => {
    expect(cutObject(bytes(' {"id":1}\n'))).toEqual(bytes('{"id":1}'));
    expect(cutObject(bytes('\ufeff{"id":1}'))).toEqual(bytes('{"id":1}'));
  });

  test("is what is expected where another value stands", () => {
    for (const read of [cutObject, (body: Buffer) => valueOf(body, "a")])
      expect(errorOf(() => read(bytes(" 1"))).message).toContain('at byte 1 expected an object, found "1"');
  });

  test.each([
    ["{}", true],
    ["[]", false],
    ['{"a":{}}', false],
  ])("%s is an empty one: %s", (text, isEmpty) => expect(isEmptyObject(bytes(text))).toBe(isEmpty));
});

test.each([
  [0x20, "0x20"],
  [0x21, '"!"'],
  [0x7f, "0x7F"],
  [0x0a, "0x0A"],
  [undefined, "the end"],
])("a message shows the character %s as %s", (code, shown) => {
  expect(describeCharacter(code)).toBe(shown);
});
