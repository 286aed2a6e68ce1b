import { createHash } from "node:crypto";
import { assert, integer, property, string } from "fast-check";
import { describe, expect, test } from "vitest";
import { parseShard, shardOf, shardText } from "../../src/status/shards.ts";

describe("a shard", () => {
  test.each(["1/1", "1/3", "3/3", "10000/20000"])("is read from %s and written as that", (text) => {
    const shard = parseShard(text);
    expect(shard && shardText(shard)).toBe(text);
  });

  const odd = "0/3 4/3 1 1/0 /3 1/ 01/3 -1/3 1/3/3 one/3 1.5/3 1/1e3".split(" ");
  test.each([...odd, "1/3 ", ""])("is nothing else: %j", (text) => {
    expect(parseShard(text)).toBeNull();
  });
});

describe("a company", () => {
  test("is in exactly one shard, the same for everybody: SHA-256 of its name modulo their number", () => {
    assert(
      property(string(), integer({ min: 1, max: 99_999 }), (name, count) => {
        const { index, ...rest } = shardOf(name, count);
        // Digit by digit, as on paper.
        const hex = createHash("sha256").update(name).digest("hex");
        let remainder = 0;
        for (const digit of hex) remainder = (remainder * 16 + Number.parseInt(digit, 16)) % count;
        expect({ index, ...rest }).toEqual({ index: remainder + 1, count });
      }),
    );
  });

  test("keeps its shard in every version", () => {
    const shards = ["acme", "beta", "gamma"].map((name) => shardText(shardOf(name, 3)));
    expect(shards).toEqual(["3/3", "2/3", "2/3"]);
  });
});
