import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSigned } from "../../src/webhook/ingest/delivery.ts";
import { secret, sign } from "../support/webhook/webhook.ts";

const body = Buffer.from('{"id":"evt-1"}');
const good = sign(body);

describe("a delivery is from the service", () => {
  test("when its signature is the HMAC-SHA256 of the raw bytes, in hexadecimal of either case", () => {
    expect(good).toBe(sign(body.toString()));
    expect(isSigned(body, good, [secret])).toBe(true);
    expect(isSigned(body, good.toUpperCase(), [secret])).toBe(true);
  });

  test("by the old secret as well as by the new one, in whatever order they are", () => {
    const secrets = ["old", "new"];
    for (const inOrder of [secrets, secrets.toReversed()]) {
      const accepted = ["old", "new", "older"].filter((key) => isSigned(body, sign(body, key), inOrder));
      expect(accepted).toEqual(secrets);
    }
  });
});

describe("a delivery is not from the service", () => {
  // Fault: webhook | a forged signature: another secret, length, alphabet or nothing | the signature header | refused
  test.each([
    ["shorter", good.slice(0, 62)],
    ["longer", `${good}00`],
    ["empty", ""],
    ["not hexadecimal", `${good.slice(0, 63)}g`],
    ["with a prefix", `sha256=${good}`],
    ["of wide characters", "ａ".repeat(64)],
    ["with a line break", `${good}\n`],
    ["of other bytes", sign(`${body.toString()} `)],
  ])("when its signature is %s", (_, signature) => {
    expect(isSigned(body, signature, [secret])).toBe(false);
  });

  // Fault: secrets | no secret, or an empty one, is configured | the keyring | nothing is accepted
  test("when there is no secret, and never by the empty one: anybody could sign with that", () => {
    expect(isSigned(body, good, [])).toBe(false);
    expect(isSigned(body, sign(body, ""), [""])).toBe(false);
  });

  // Fault: webhook | a single bit of body or signature is changed | every bit | refused
  test("when a single bit of the body or of the signature is another", () => {
    fc.assert(
      fc.property(fc.nat(body.length * 8 - 1), fc.nat(255), (inBody, inSignature) => {
        expect(isSigned(flipped(body, inBody), good, [secret])).toBe(false);
        const other = flipped(Buffer.from(good, "hex"), inSignature).toString("hex");
        expect(isSigned(body, other, [secret])).toBe(false);
      }),
    );
  });
});

function flipped(bytes: Buffer, bit: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}
