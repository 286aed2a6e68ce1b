import { describe, expect, test } from "vitest";
import { readCompanyName, readDetail, readList, readObject, readParts } from "../../src/extract/answers.ts";
import { isShownWhole } from "../../src/store/apply/previews.ts";
import { errorOf } from "../support/errors.ts";
import { resourceOf } from "../support/mirror/mirror.ts";

const bytes = (text: string) => Buffer.from(text);

describe("a list's answer", () => {
  test("is cut into the service's own bytes, with each record's id", () => {
    const { records, paginator } = readList(
      bytes('{"paginator": {"perPage": 2}, "data": [ {"id":1, "a":1.0},{"b":2} ]}'),
    );
    expect([...records].map(({ slice, id }) => [slice.toString(), id])).toEqual([
      ['{"id":1, "a":1.0}', "1"],
      ['{"b":2}', null],
    ]);
    expect(paginator).toEqual({ perPage: 2 });
    expect(readList(bytes('{"data":[]}')).paginator).toBeNull();
  });

  test.each([
    ["a page of HTML", "<html>maintenance</html>"],
    ["nothing", ""],
    ["an answer cut off", '{"data":[{"id":1},{"id":'],
    ["a bare list", '[{"id":1}]'],
    ["no data", '{"paginator":{}}'],
    ["data that is no list", '{"data":{"id":1}}'],
    ["something after the end", '{"data":[]} x'],
  ])("%s is refused, and nothing of it is used", (_what, text) => {
    expect(errorOf(() => readList(bytes(text))).kind).toBe("protocol");
  });

  // Fault: data | bytes that are no UTF-8 | a list's answer | refused: they would be stored for good
  test("broken characters are refused: they would be stored for good", () => {
    const body = Buffer.concat([bytes('{"data":[{"id":1,"a":"'), Buffer.of(0xc4), bytes('"}]}')]);
    expect(errorOf(() => readList(body)).kind).toBe("protocol");
  });
});

describe("a record's answer", () => {
  test("is its bytes without the white space around them; its id may be a text", () => {
    const { slice, withoutId } = readDetail(bytes(' \n{"id": 7, "a": 0.10}\n'), 7);
    expect(slice.toString()).toBe('{"id": 7, "a": 0.10}');
    expect([withoutId, readDetail(bytes('{"id":"7"}'), 7).withoutId]).toEqual([false, false]);
  });

  test.each([
    ["no id", '{"a":{"id":7}}'],
    ["null for an id", '{"id":null}'],
    ["an id beyond 64 bits", '{"id":9223372036854775808}'],
  ])("%s is said", (_what, text) => {
    expect(readDetail(bytes(text), 7).withoutId).toBe(true);
  });

  // Fault: service | another record than asked for comes | a detail's answer | refused, and asked for again
  test.each(['{"id":8}', '{"id":"8"}'])("another record, %s, is refused as retryable", (text) => {
    const error = errorOf(() => readDetail(bytes(text), 7));
    expect(error).toMatchObject({ kind: "protocol", retryable: true });
    expect(error.message).toContain("returned record 8");
  });

  test("ids beyond 2^53 are distinguished", () => {
    const body = bytes('{"id":9007199254740993}');
    expect(readDetail(body, 9_007_199_254_740_993n).slice).toEqual(body);
    expect(errorOf(() => readDetail(body, 9_007_199_254_740_992n)).kind).toBe("protocol");
  });

  test("an object is needed, not a list or a text", () => {
    for (const text of ["[]", '"x"', "null", ""]) {
      expect(errorOf(() => readObject(bytes(text))).kind).toBe("protocol");
    }
  });
});

describe("parts of a record", () => {
  test("are cut from its array; an absent field, null or another shape has none", () => {
    const parts = readParts(bytes('{"id":1,"payments":[{"id":5},{"id":6}]}'), "payments");
    expect([...(parts ?? [])].map(({ id }) => id)).toEqual(["5", "6"]);
    for (const text of ['{"id":1}', '{"payments":null}', '{"payments":{"0":1}}']) {
      expect(readParts(bytes(text), "payments")).toBeNull();
    }
    for (const text of ['{"payments":[]}', '{"payments":{ }}'])
      expect(readParts(bytes(text), "payments")).toEqual([]);
  });

  test("a record is whole in a list that shows its keys, whatever their values and however they are written", () => {
    const prices = { ...resourceOf("people"), gives: "full", fullWhen: ["stocks"] } as const;
    expect(isShownWhole(prices, bytes('{"stocks":null}'))).toBe(true);
    expect(isShownWhole(prices, bytes('{"st\\u006fcks":[]}'))).toBe(true);
    expect(isShownWhole(prices, bytes('{"in":{"stocks":1}}'))).toBe(false);
    expect(isShownWhole({ ...prices, gives: "preview" }, bytes('{"stocks":null}'))).toBe(false);
  });
});

test.each(['{"data":{"id":1}}', '{"name":""}', '{"name":7}', "[]", "{}"])(
  "I10: an answer that names no company is none of the company: %s",
  (text) => {
    expect(errorOf(() => readCompanyName(bytes(text), { path: "/whoami", field: "name" }))).toMatchObject({
      kind: "protocol",
    });
  },
);
