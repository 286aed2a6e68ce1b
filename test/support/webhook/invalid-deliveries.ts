import { eventText, forged, post, sign, type Post } from "./webhook.ts";

/** One event, whose id no answer repeats. */
export const oneBody = eventText({ id: "evt-1" });
const now = () => Math.floor(Date.now() / 1000);
const stampedAt = (seconds: unknown) => post(oneBody, { "webhook-timestamp": String(seconds) });
const inBody = (id: string) => post(eventText({ id }), { "webhook-id": "evt-1" });

/** Each alone is wrong in one way; the answer shows which kind. */
export const refusals: readonly (readonly [string, () => Post, number])[] = [
  ["no webhook-signature", () => post(oneBody, { "webhook-signature": "" }), 400],
  ["a timestamp of 301 s ago", () => stampedAt(now() - 301), 401],
  ["a timestamp in milliseconds", () => stampedAt(Date.now()), 401],
  ["a timestamp in words", () => stampedAt("now"), 401],
  ["a signature by another secret", () => forged(oneBody, sign(oneBody, "other")), 401],
  ["a signature of another body", () => forged(oneBody, sign(`${oneBody} `)), 401],
  ["another id in the header", () => post(oneBody, { "webhook-id": "evt-2" }), 400],
  ["an id with U+0000, which no header can hold", () => inBody("evt-1\0"), 400],
  ["an id with half of a surrogate pair", () => inBody("\ud800evt-1"), 400],
  ["an event without an id", () => post('{"type":"people.updated"}', { "webhook-id": "evt-1" }), 400],
];
