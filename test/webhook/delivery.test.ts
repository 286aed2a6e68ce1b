import { describe, expect, test } from "vitest";
import {
  isTimely,
  readDelivery,
  readHead,
  readStored,
  signedForm,
  isSigned,
} from "../../src/webhook/ingest/delivery.ts";
import { deliveryOf, eventText, secret, sign } from "../support/webhook/webhook.ts";
import * as fc from "fast-check";

const nowMs = Date.UTC(2026, 2, 1, 12) + 999;
const now = Math.floor(nowMs / 1000);
const headOf = (rawHeaders: readonly string[]) => readHead(rawHeaders, signedForm);
const parsed = (body: Buffer, headerId: string) => readDelivery(body, headerId, signedForm);
const stored = (eventId: string, body: string | Buffer) => readStored(eventId, body, signedForm);

describe("the three headers are there, once", () => {
  const whole = ["Webhook-Id", "a", "webhook-timestamp", "1", "WEBHOOK-SIGNATURE", "b", "host", "x"];

  test("in any case, among others of the same length, however often those are sent", () => {
    const others = ["user-agent", "x", "User-Agent", "y", "x-forwarded-proto", "a", "X-Forwarded-Proto", "b"];
    expect(headOf([...others, ...whole])).toEqual({ id: "a", timestamp: "1", signature: "b" });
    expect(headOf(others)).toEqual({ status: 400, why: "no webhook-id header", reason: "missing_header" });
  });

  // Fault: webhook | one of the three headers is missing | the request's headers | no delivery
  test.each([0, 2, 4])("without one of them, or with one twice, it is no delivery", (at) => {
    expect(headOf(whole.toSpliced(at, 2))).toMatchObject({ status: 400 });
    expect(headOf(whole.toSpliced(at + 1, 1, ""))).toMatchObject({ status: 400 });
    expect(headOf([...whole, ...whole.slice(at, at + 2)])).toMatchObject({ status: 400 });
  });
});

describe("the timestamp is a whole number of seconds, 300 away at most", () => {
  test.each([0, -299, 299, -300, 300])("%i s is near enough", (away) => {
    expect(isTimely(String(now + away), nowMs)).toBe(true);
  });

  // Fault: clock | the sender's clock is more than 300 s away | the timestamp header | no delivery
  test.each([-301, 301, -now, 86_400 * 365, 1e14])("%i s is not", (away) => {
    expect(isTimely(String(now + away), nowMs)).toBe(false);
  });

  const forms = "-#|+#|#.0|#.5| #|# |#\n|#, #|#000|1e9|NaN|Infinity|null|2026-03-01T12:00:00Z".split("|");
  const odd = ["9".repeat(400), `0x${now.toString(16)}`, now.toExponential(20)];
  test.each([...forms.map((form) => form.replaceAll("#", String(now))), ...odd])("%s is none", (text) => {
    expect(isTimely(text, nowMs)).toBe(false);
  });
});

describe("what was signed is read as it was written", () => {
  test.each([
    ["9007199254740993", 9_007_199_254_740_993n],
    ["9223372036854775807", 9_223_372_036_854_775_807n],
    ["9007199254740991", 9_007_199_254_740_991],
    ["17.0", 17],
    ["0", 0],
    ['"17"', 17],
  ])("an id of %s keeps every digit", (written, id) => {
    expect(deliveryOf(`{"id":"a","type":"t","resource":{"id":${written}}}`).resourceId).toBe(id);
  });

  const noIds = '-1 1.5 9223372036854775808 1e400 "x" "-1" "" null true [17] {}';
  test.each(noIds.split(" "))("%s is no record's id", (written) => {
    expect(deliveryOf(`{"id":"a","type":"t","resource":{"id":${written}}}`).resourceId).toBeNull();
  });

  const odd = [
    '{"id":"a"}',
    '{"id":"a","type":7,"resource":[],"occurredAt":{}}',
    '{"id":"a","resource":"x"}',
  ];
  test.each(odd)("fields that are missing or odd are none: %s", (body) => {
    expect(deliveryOf(body)).toMatchObject({ type: null, resourceType: null, resourceId: null, body });
  });

  test("an event id may have any character that a header can carry", () => {
    const id = "objednávka-č.1";
    const sent = Buffer.from(id).toString("latin1");
    for (const header of [sent, id])
      expect(parsed(Buffer.from(JSON.stringify({ id })), header)).toMatchObject({ eventId: id });
  });
});

describe("only the signed id says which event it is", () => {
  // Fault: webhook | an unsigned header says another id than the signed body | the id header | refused
  test.each([
    ["another id in the header", '{"id":"evt-2"}', "wrong_id"],
    ["the same in other letters", '{"id":"EVT-1"}', "wrong_id"],
    ["no id", '{"type":"a.b"}', "missing_id"],
    ["an empty id", '{"id":""}', "missing_id"],
    ["a number", '{"id":1}', "missing_id"],
    ["null", '{"id":null}', "missing_id"],
    ["a repeated id, of which the last counts", '{"id":"evt-1","id":"evt-2"}', "wrong_id"],
  ])("%s: refused", (_, body, reason) => {
    expect(parsed(Buffer.from(body), "evt-1")).toMatchObject({ status: 400, reason });
  });
});

describe("I12: signed but unreadable is kept under an id made of its bytes", () => {
  const unreadable = [
    "",
    "not json",
    '{"id":"evt-1"',
    '{"id":"evt-1"} {}',
    '["evt-1"]',
    '"evt-1"',
    "null",
    "17",
    "9007199254740993",
    `{"id":"evt-1","a":${"[".repeat(5_000)}${"]".repeat(5_000)}}`,
    '{"id":"evt-1\u0000"}',
  ];

  // Fault: webhook | a signed body that cannot be read | bytes, broken JSON, odd types | kept under an id made of its bytes (I12)
  test.each(unreadable)("%#: %.20s", (text) => {
    const read = parsed(Buffer.from(text), "evt-1");
    expect(read).toMatchObject({ readable: false, type: null, resourceId: null, body: text });
    expect(read).toMatchObject({ eventId: expect.stringMatching(/^unreadable:[0-9a-f]{64}$/) as string });
  });

  test("the same bytes have the same id, others another, whatever the header says", () => {
    const ids = [...unreadable, "not json either"].map((text) => deliveryOf(text).eventId);
    expect(new Set(ids).size).toBe(ids.length);
    const [first, second] = ["id", "other"].map((id) => parsed(Buffer.from("not json"), id));
    expect(second).toEqual(first);
  });

  test("bytes that are no text are kept as bytes: none of them is replaced", () => {
    const body = Buffer.from('{"id":"evt-1","name":"\xff\xfe"}', "latin1");
    expect(parsed(body, "evt-1")).toMatchObject({ readable: false, body });
  });

  test("a byte order mark makes nothing unreadable", () => {
    const body = `\uFEFF${eventText({ id: "evt-1" })}`;
    const read = parsed(Buffer.from(body), "evt-1");
    expect(read).toMatchObject({ readable: true, type: "people.updated", body });
  });
});

test("a stored event is read the same again", () => {
  for (const text of [eventText(), '{"id":"a","resource":{"id":9007199254740993}}', "not json", "[]"]) {
    const delivery = deliveryOf(text);
    expect(stored(delivery.eventId, delivery.body)).toEqual(delivery);
  }
  const bytes = deliveryOf(Buffer.from([0xff]));
  expect(stored(bytes.eventId, bytes.body)).toEqual(bytes);
});

test("what was kept as unreadable stays so, whatever a later version could read", () => {
  expect(stored("unreadable:17", '{"id":"a","type":"t"}')).toMatchObject({ readable: false, type: null });
  expect(stored("an-unreadable:", '{"id":"a","type":"t"}')).toMatchObject({ readable: true, type: "t" });
});

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
