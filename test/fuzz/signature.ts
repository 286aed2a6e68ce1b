import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/logger.ts";
import type { Delivery } from "../../src/state/inbox/inbox.ts";
import type { Answer } from "../../src/webhook/ingest/delivery.ts";
import type { Ingest } from "../../src/webhook/ingest/ingest.ts";
import { Receiver } from "../../src/webhook/receiver.ts";
import { natively } from "../support/json/json.ts";
import { keyringOf, sign } from "../support/webhook/webhook.ts";
import { pureTarget } from "./fuzz-target.ts";

const nowSeconds = 1_772_323_200;
const names = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;

/** Characters that a header can hold: its bytes. */
const headerText = fc.uint8Array({ maxLength: 70 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
/** The usual one most of the time, so that many inputs have one mistake only. */
function mostly<T>(usual: T, others: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: others });
}

const key = mostly("new", fc.constantFrom("old", "whsec_3", ""));
const asItIs = (text: string) => text;
const hexMistakes = fc.constantFrom(
  (text: string) => text.toUpperCase(),
  (text: string) => text.slice(1),
  (text: string) => `${text}0`,
  (text: string) => `sha256=${text}`,
  (text: string) => `v1,${text} v1,${text}`,
  (text: string) => `${text},${text}`,
  (text: string) => `${text}\n`,
  (text: string) => text.replace(/.$/, (last) => (last === "0" ? "1" : "0")),
  () => "",
);

const signature = fc.oneof(
  {
    weight: 19,
    arbitrary: fc.record({ by: key, write: mostly(asItIs, hexMistakes), ofOther: mostly(null, fc.string()) }),
  },
  { weight: 1, arbitrary: headerText },
);
const timestamp = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: -302, max: 302 }).map((more) => String(nowSeconds + more)) },
  { weight: 1, arbitrary: fc.oneof(headerText, fc.integer().map(String), fc.double().map(String)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(`${nowSeconds}.0`, ` ${nowSeconds}`, `+${nowSeconds}`, "1e9", "٣"),
  },
);
const eventId = fc.oneof(
  fc.constantFrom("evt-1", "evt-ž", ""),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);
const body = fc.oneof(
  { weight: 6, arbitrary: eventId.map((id) => JSON.stringify({ id, type: "people.updated" })) },
  {
    weight: 2,
    arbitrary: fc.oneof(fc.json(), fc.constantFrom('{"id":7}', "{}", "[]", '\uFEFF{"id":"evt-1"}')),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
);
const otherHeader = fc.tuple(
  fc.constantFrom(..."host Webhook-Ids webhook_id webhook-signaturE WEBHOOK-ID webhook-timestamp".split(" ")),
  headerText,
);

const delivered = fc.record({
  body,
  headerId: mostly(null, headerText),
  timestamp,
  signature,
  secrets: fc.oneof(
    fc.array(key, { maxLength: 3 }),
    fc.constantFrom(["new"], ["old", "new"], ["new", "old"]),
  ),
  /** Headers beside the three, and which of the three stay away. */
  more: mostly([], fc.array(otherHeader, { maxLength: 2 })),
  without: mostly(null, fc.constantFrom(...names)),
  upperCase: fc.boolean(),
});
type Delivered = typeof delivered extends fc.Arbitrary<infer T> ? T : never;

/** The headers as Node gives them. */
function headersOf(one: Delivered, bytes: Buffer): string[][] {
  const { headerId, signature: given, more, without, upperCase } = one;
  const signed = typeof given === "string" ? given : signatureOf(given, bytes);
  const id = headerId ?? Buffer.from(idIn(bytes) ?? "evt-1").toString("latin1");
  const three = [
    ["webhook-id", id],
    ["webhook-timestamp", one.timestamp],
    ["webhook-signature", signed],
  ].filter(([name]) => name !== without);
  return [...three, ...more].map(([name = "", value = ""]) => [upperCase ? name.toUpperCase() : name, value]);
}

function signatureOf(given: Exclude<Delivered["signature"], string>, bytes: Buffer): string {
  return given.write(sign(given.ofOther === null ? bytes : Buffer.from(given.ofOther), given.by));
}

function idIn(bytes: Buffer): string | null {
  const event = natively(bytes.toString().replace(/^\uFEFF/, "")) as { id?: unknown } | null | undefined;
  return typeof event?.id === "string" ? event.id : null;
}

/** What the interface document asks for, written a second time; "" where the delivery is to be stored. */
function refusalOf(headers: readonly string[][], bytes: Buffer, secrets: readonly string[]): string {
  const valuesOf = (name: string) => headers.filter(([one = ""]) => one.toLowerCase() === name);
  const found = names.map(valuesOf);
  if (found.some((values) => values.length > 1)) return "400 more than one";
  const [id = "", at = "", signed = ""] = found.map((values) => values[0]?.[1] ?? "");
  if (id === "" || at === "" || signed === "") return "400 no ";
  const isTime = /^[0-9]{1,15}$/.test(at);
  if (!isTime || Math.abs(Number(at) - nowSeconds) > 300) return "401 webhook-timestamp";
  const digests = secrets
    .filter((one) => one !== "")
    .map((one) => createHmac("sha256", one).update(bytes).digest("hex"));
  if (!digests.includes(signed.toLowerCase())) return "401 webhook-signature";
  const text = bytes.toString();
  const event = Buffer.from(text).equals(bytes) ? natively(text.replace(/^\uFEFF/, "")) : undefined;
  if (typeof event !== "object" || event === null || Array.isArray(event)) return "";
  const inBody = (event as { id?: unknown }).id;
  if (typeof inBody !== "string" || inBody === "") return "400 the event has no id";
  const isSame = id === inBody || Buffer.from(inBody).toString("latin1") === id;
  return isSame ? "" : "400 webhook-id is not";
}

function answerTo(headers: readonly string[][], bytes: Buffer, ingest: Ingest): Promise<Answer> {
  const companies = { find: () => ingest, countAnswer: () => undefined };
  const clock = { ...systemClock, nowMs: () => nowSeconds * 1000 + 999 };
  const receiver = new Receiver({ companies, clock, log: silentLog });
  const admission = receiver.admit("acme", headers.flat());
  if ("status" in admission) return Promise.resolve(admission);
  return new Promise((resolve) => receiver.deliver(admission, bytes, resolve));
}

/** The headers of a delivery against the service's rules. */
export const signedHeaders = pureTarget("signature/headers", 600, delivered, async (one) => {
  const bytes = Buffer.from(one.body);
  const all = headersOf(one, bytes);
  const stored: Delivery[] = [];
  const store: Ingest["store"] = (deliveries) => {
    stored.push(...deliveries);
    return deliveries.map(({ eventId: id, type }) => {
      return { outcome: "stored", eventId: id, type, resource: null, problem: null, id: null, state: "kept" };
    });
  };
  const { status, why } = await answerTo(all, bytes, {
    keyring: keyringOf(...one.secrets),
    has: () => false,
    store,
  });
  const refusal = refusalOf(all, bytes, one.secrets);
  if (refusal !== "") assert.ok(`${status} ${why}`.startsWith(refusal), `${status} ${why}, not ${refusal}`);
  else assert.equal(status, 204);
  assert.deepEqual(
    stored.map((delivery) => Buffer.from(delivery.body)),
    refusal === "" ? [bytes] : [],
  );
});
