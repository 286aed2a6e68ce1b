import { describe, expect, test } from "vitest";
import { jsonTargets } from "../fuzz/json.ts";
import { errorOf } from "../support/errors.ts";
import { readList } from "../support/json/json.ts";

describe("for any JSON", () => {
  test("cutting a list and parsing its slices, each the text of its record, equals parsing the whole", () =>
    jsonTargets.lists.round());

  test("a record's id and each value are those that JSON.parse would take, as they are written", () =>
    jsonTargets.records.round());

  test("the native and the precise parser agree, no number loses a digit, and writing changes nothing", () =>
    jsonTargets.values.round());

  test("however deep or long, and behind a byte order mark, it is read as JSON.parse does, or refused", () =>
    jsonTargets.extremes.round());
});

describe("for any damaged bytes", () => {
  // Fault: data | a list answer with bytes cut, dropped, changed or repeated | answer body | read as JSON.parse reads it, or refused
  test("a list is read as JSON.parse reads the whole, or refused where that refuses too", () =>
    jsonTargets.damagedLists.round());

  test("a value, an array or an object is read exactly as JSON.parse reads it, or refused", () =>
    jsonTargets.damagedValues.round());

  test("looking for an id or a key ends with an answer or a MirrorError", () =>
    jsonTargets.damagedRecords.round());

  // Fault: network | an answer that is cut off at any byte | a list | refused
  test("every beginning of a list is refused", () => {
    const text = '{"paginator":{"a":[1]},"data":[{"id":1,"n":"\\u010d\\\\"},{"č":[{}]},-1.5e3,true]}';
    const body = Buffer.from(text);
    for (let length = 0; length < body.length; length++) errorOf(() => readList(body.subarray(0, length)));
    expect(readList(body).data).toHaveLength(4);
  });
});
