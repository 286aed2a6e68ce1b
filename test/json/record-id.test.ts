import { describe, expect, test, vi } from "vitest";
import { cutArray, cutList, idOf } from "../../src/json/cut.ts";
import { errorOf } from "../support/errors.ts";

/** Both ways to it: of a record on its own, and of the same record in a list. */
function idsOf(record: string): (string | null)[] {
  const { records } = cutList(Buffer.from(`{"data":[${record}]}`));
  return [idOf(Buffer.from(record)), ...records.map(({ id }) => id)];
}

describe("the id of a record", () => {
  test.each([
    ["first", '{"id":17,"name":"a"}', "17"],
    ["beyond 2^53, digit for digit", '{"id":9007199254740993}', "9007199254740993"],
    ["zero", '{"id":0}', "0"],
    ["the least of 64 bits", '{"id":"-9223372036854775808"}', "-9223372036854775808"],
    ["half escaped", '{"i\\u0064":3}', "3"],
    ["written in escapes only", '{"\\u0069\\u0064":2}', "2"],
    ["repeated, the last one as in JSON.parse", '{"id":1,"x":{"id":9},"id":2}', "2"],
    ["a text among white space", '{"a":1,"id" : "-5" }', "-5"],
    ["after a client with an id", '{"client":{"id":5},"lines":[{"id":6}],"id":7}', "7"],
  ])("is found when %s", (_, record, id) => {
    expect(idsOf(record)).toEqual([id, id]);
  });

  test.each([
    ["missing", '{"name":"a"}'],
    ["missing, and a key before is an integer", '{"5":1}'],
    ["only that of something inside", '{"client":{"id":5},"lines":[{"id":6}]}'],
    ["followed by what is no JSON", '{"id":17!}'],
    ["a text with white space", '{"id":" 17"}'],
    ["a text with escapes", '{"id":"\\u0031"}'],
    ["a text with leading zeros", '{"id":"017"}'],
    ["not its key, and a key of as many characters is", '{"a":"id","12":5}'],
    ["a fraction", '{"id":1.5}'],
    ["longer than any integer of 64 bits", '{"id":123456789012345678901}'],
    ["no JSON", '{"id":017}'],
    ["no integer the last time", '{"id":1,"id":null}'],
    ["a key that only looks like it", '{"ie\\u0064":1,"Id":2,"id ":3,"i\\\\u0064":4}'],
    ["of an array", '["id",1]'],
    ["of a text of an integer", '"5"'],
  ])("is null when %s", (_, record) => {
    expect(idsOf(record)).toEqual([null, null]);
  });

  test("of one record is not used for the next", () => {
    const { records } = cutList(Buffer.from('{"data":[{"id":1},{"name":"a"},{"id":3}]}'));
    expect([...records].map(({ id }) => id)).toEqual(["1", null, "3"]);
  });

  test("is not an integer at the beginning of the answer", () => {
    const records = cutArray(Buffer.from('["7",{"a":1}]'));
    expect([...records].map(({ id }) => id)).toEqual([null, null]);
  });

  test("is found without parsing a key, unless one may be it in escapes", () => {
    const native = vi.spyOn(JSON, "parse");
    const record = Buffer.from('{"name":"a","currency":"EUR","id":1}');
    expect([idOf(record), native.mock.calls]).toEqual(["1", []]);
    native.mockRestore();
  });

  test("of half a record is not guessed", () => {
    expect(errorOf(() => idOf(Buffer.from('{"id":17,"na'))).kind).toBe("protocol");
  });
});
