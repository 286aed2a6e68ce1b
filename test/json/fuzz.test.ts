import { describe, expect, test } from "vitest";
import { jsonTargets } from "../fuzz/json.ts";
import { readList, refusal } from "../support/json/json.ts";

describe("for any JSON", () => {
  test("cutting a list and parsing its slices equals parsing the whole", () => jsonTargets.cutting.round());

  test("a slice is the text of its record, character for character", () => jsonTargets.slices.round());

  test("a record's id is the one that JSON.parse would take, as it is written", () =>
    jsonTargets.ids.round());

  test("the bytes of each key hold the value that JSON.parse gives it", () => jsonTargets.keys.round());

  test("the native and the precise parser agree, and no number loses a digit", () =>
    jsonTargets.parsers.round());

  test("writing and reading again changes nothing", () => jsonTargets.writing.round());

  test("however deep or long, and behind a byte order mark, it is read as JSON.parse does, or refused", () =>
    jsonTargets.extremes.round());
});

describe("for any damaged bytes", () => {
  // Fault: data | a list answer with bytes cut, dropped, changed or repeated | answer body | read as JSON.parse reads it, or refused
  // Fault: data | any damaged bytes | a list | read as JSON.parse does, or refused as it does
  test("a list is read as JSON.parse reads the whole, or refused where that refuses too", () =>
    jsonTargets.damagedLists.round());

  test("parsing accepts and refuses exactly what JSON.parse does", () => jsonTargets.damagedValues.round());

  test("an array or object on its own is read as JSON.parse reads it, or refused", () =>
    jsonTargets.damagedContainers.round());

  test("looking for an id or a key ends with an answer or a MirrorError", () =>
    jsonTargets.damagedRecords.round());

  // Fault: network | an answer that ends early | each length of a list's body | refused
  // Fault: network | an answer that is cut off at any byte | a list | refused
  test("every beginning of a list is refused", () => {
    const text = '{"paginator":{"a":[1]},"data":[{"id":1,"n":"\\u010d\\\\"},{"č":[{}]},-1.5e3,true]}';
    const body = Buffer.from(text);
    for (let length = 0; length < body.length; length++) refusal(() => readList(body.subarray(0, length)));
    expect(readList(body).data).toHaveLength(4);
  });
});
