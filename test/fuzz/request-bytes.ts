import * as fc from "fast-check";
import { damaged, damages, type Damage } from "../support/json/damaged-bytes.ts";
import { eventText, post, wire } from "../support/webhook/webhook.ts";

const rightStart = "POST /webhooks/acme";
const otherStarts = [
  "POST http://x/webhooks/acme",
  "POST /webhooks/acme/",
  "PUT /webhooks/acme",
  "POST *",
  "post /webhooks/acme",
  "CONNECT /webhooks/acme",
  "POST /webhooks/nobody",
  "OPTIONS *",
  "POST /webhooks/acme HTTP/9.9\r\nx:",
];

/** One request, or something else, of a connection. */
const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("delivery" as const),
      framing: fc.constantFrom(..."length length chunked longer shorter both negative expect".split(" ")),
      chunk: fc.integer({ min: 1, max: 200 }),
      filler: fc.constantFrom(0, 0, 0, 900, 2_500, 5_000),
      more: fc.array(
        fc.constantFrom(
          "connection: close",
          "connection: upgrade\r\nupgrade: websocket",
          "upgrade: h2c",
          "expect: 100-continue",
          "expect: 200-ok",
          "content-encoding: gzip",
          "transfer-encoding: identity",
          "transfer-encoding: gzip, chunked",
          "x: \u0000",
          " folded: line",
          "no colon",
          ": no name",
          `x: ${"y".repeat(20_000)}`,
          "webhook-id: evt-1",
          "webhook-signature: 0",
          "webhook-timestamp: 1",
        ),
        { maxLength: 1 },
      ),
      start: fc.constantFrom(rightStart, rightStart, rightStart, ...otherStarts),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("text" as const),
      text: fc.constantFrom(
        "CONNECT example.com:443 HTTP/1.1\r\nhost: x\r\n\r\nmore",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "GET / HTTP/1.1\r\nhost: x\r\n\r\n",
        "HEAD /webhooks/acme HTTP/1.1\r\nhost: x\r\n\r\n",
        "GET / HTTP/1.1\nhost: x\n\n",
        "GET / HTTP/0.9\r\n\r\n",
        "POST /webhooks/acme HTTP/1.1\r\nhost: x\r\ncontent-length: 99999999999999999999\r\n\r\n",
        "POST /webhooks/acme HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        "POST /webhooks/acme HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\na: b\r\n",
        "GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n\u0081\u0000",
        "\r\n\r\n\r\n",
        "\u0016\u0003\u0001\u0002\u0000\u0001",
        "\u0000".repeat(50),
        `GET /${"a".repeat(20_000)} HTTP/1.1\r\n\r\n`,
        `GET / HTTP/1.1\r\n${"a: b\r\n".repeat(3_000)}\r\n`,
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("bytes" as const), bytes: fc.uint8Array({ maxLength: 60 }) }),
  },
);
type Piece = typeof piece extends fc.Arbitrary<infer T> ? T : never;

/** What a sender does on one connection. */
export const connectionPlan = fc.record({
  pieces: fc.array(piece, { minLength: 1, maxLength: 4 }),
  damages: fc.oneof({ weight: 3, arbitrary: fc.constant([] as Damage[]) }, { weight: 2, arbitrary: damages }),
  /** Where the bytes are cut into writes, as shares of their length. */
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
  /** `hold`: the sender never ends its side. */
  ending: fc.oneof(
    { weight: 19, arbitrary: fc.constantFrom("end", "end", "destroy", "reset") },
    { weight: 1, arbitrary: fc.constant("hold") },
  ),
});
export type ConnectionPlan = typeof connectionPlan extends fc.Arbitrary<infer T> ? T : never;

/** The bytes of a plan, the events that it has signed, and whether its first request is a delivery without a mistake. */
export function bytesOf(plan: ConnectionPlan) {
  const signed: string[] = [];
  const whole = Buffer.concat(plan.pieces.map((one) => bytesOfPiece(one, signed)));
  const bytes = damaged(whole, plan.damages);
  const cuts = [...plan.cuts.map((share) => Math.floor(share * bytes.length)), bytes.length].toSorted(
    (a, b) => a - b,
  );
  const writes = cuts.map((cut, i) => bytes.subarray(cuts[i - 1] ?? 0, cut));
  const [first] = plan.pieces;
  return { writes, signed, beginsWell: plan.damages.length === 0 && first !== undefined && isRight(first) };
}

function isRight(one: Piece): boolean {
  if (one.kind !== "delivery") return false;
  const isFramed = one.framing === "length" || one.framing === "chunked";
  return isFramed && one.filler < 2_000 && one.more.length === 0 && one.start === rightStart;
}

function bytesOfPiece(one: Piece, signed: string[]): Buffer {
  if (one.kind === "bytes") return Buffer.from(one.bytes);
  if (one.kind === "text") return Buffer.from(one.text, "latin1");
  const text = eventText({ type: "x".repeat(one.filler) || "people.updated" });
  signed.push(text);
  const { headers } = post(text);
  const head = (...lines: string[]) => wire({ headers, body: "" }, [...one.more, ...lines], one.start);
  const { length } = Buffer.from(text);
  if (one.framing === "chunked")
    return Buffer.concat([head("transfer-encoding: chunked"), chunked(text, one.chunk)]);
  if (one.framing === "both")
    return Buffer.concat([
      head("transfer-encoding: chunked", `content-length: ${length}`),
      chunked(text, one.chunk),
    ]);
  const announced = { longer: length + one.chunk, shorter: length - one.chunk, negative: -length }[
    one.framing
  ];
  const lines = [
    `content-length: ${announced ?? length}`,
    ...(one.framing === "expect" ? ["expect: 100-continue"] : []),
  ];
  return Buffer.concat([head(...lines), Buffer.from(text)]);
}

function chunked(text: string, size: number): Buffer {
  const chunks: string[] = [];
  for (let at = 0; at < text.length; at += size) {
    const chunk = text.slice(at, at + size);
    chunks.push(`${chunk.length.toString(16)}${size % 3 === 0 ? ";name=value" : ""}\r\n${chunk}\r\n`);
  }
  return Buffer.from(`${chunks.join("")}0\r\n${size % 5 === 0 ? "trailer: x\r\n" : ""}\r\n`);
}
