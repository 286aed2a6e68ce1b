import { expect, test } from "vitest";
import { jsonEquals } from "../../src/json/literal.ts";
import { parseLossless } from "../../src/json/lossless.ts";

test.each([
  ['{"a":1,"b":[1.50,{"c":null}]}', '{"b":[1.5,{"c":null}],"a":1}'],
  ['{"a":1.00000000000000000000000001}', '{"a":1.000000000000000000000000010}'],
  ['{"a":1,"more":2}', '{"a":1,"other":3}'],
  ["[]", "[]"],
])("%s and %s say the same wherever both say something", (a, b) => {
  expect(jsonEquals(parseLossless(a), parseLossless(b))).toBe(true);
});

test.each([
  ['{"a":{"name":"old"}}', '{"a":{"name":"new"}}'],
  ['{"a":1}', '{"a":"1"}'],
  ['{"a":null}', '{"a":{}}'],
  ['{"a":[1,2]}', '{"a":[2,1]}'],
  ['{"a":[1]}', '{"a":[1,2]}'],
  ['{"a":1.00000000000000000000000001}', '{"a":1.00000000000000000000000002}'],
  ["[]", "{}"],
])("%s and %s do not", (a, b) => {
  expect(jsonEquals(parseLossless(a), parseLossless(b))).toBe(false);
  expect(jsonEquals(parseLossless(b), parseLossless(a))).toBe(false);
});
