import { eventText, forged, post, sign, type Post } from "./webhook.ts";

/** One event, whose id no answer repeats. */
export const oneBody = eventText({ id: "evt-1" });
const now = () => Math.floor(Date.now() / 1000);
const at = (seconds: number) => post(oneBody, { "webhook-timestamp": String(now() + seconds) });
const signed = (signature: string) => forged(oneBody, signature);

/** Each alone is wrong in one way; the answer shows which kind. */
export const refusals: readonly (readonly [string, () => Post, number])[] = [
  ["no webhook-id", () => post(oneBody, { "webhook-id": "" }), 400],
  ["no webhook-timestamp", () => post(oneBody, { "webhook-timestamp": "" }), 400],
  ["no webhook-signature", () => post(oneBody, { "webhook-signature": "" }), 400],
  ["a timestamp of 301 s ago", () => at(-301), 401],
  ["a timestamp in 302 s", () => at(302), 401],
  ["a timestamp in milliseconds", () => post(oneBody, { "webhook-timestamp": String(Date.now()) }), 401],
  ["a negative timestamp", () => post(oneBody, { "webhook-timestamp": `-${now()}` }), 401],
  ["a timestamp with a fraction", () => post(oneBody, { "webhook-timestamp": `${now()}.5` }), 401],
  ["a huge timestamp", () => post(oneBody, { "webhook-timestamp": "9".repeat(300) }), 401],
  ["a timestamp in words", () => post(oneBody, { "webhook-timestamp": "now" }), 401],
  ["a signature by another secret", () => signed(sign(oneBody, "other")), 401],
  ["a signature of another body", () => signed(sign(`${oneBody} `)), 401],
  ["a shorter signature", () => signed(sign(oneBody).slice(1)), 401],
  ["a longer signature", () => signed(`${sign(oneBody)}0`), 401],
  ["a signature that is not hexadecimal", () => signed("z".repeat(64)), 401],
  ["another id in the header", () => post(oneBody, { "webhook-id": "evt-2" }), 400],
  ["an event without an id", () => post('{"type":"people.updated"}', { "webhook-id": "evt-1" }), 400],
  ["an event whose id is a number", () => post('{"id":1}', { "webhook-id": "1" }), 400],
];
