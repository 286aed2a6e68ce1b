import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { isUtf8 } from "node:buffer";
import { recordId, type RecordId } from "../../base/ids.ts";
import { integerOf, isObject, type JsonObject, type JsonValue } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import type { Delivery } from "../../state/inbox/inbox.ts";

/** Why deliveries are refused: names in metrics, /readyz and `status --json`. */
export const refusalReasons = [
  "bad_signature",
  "stale_timestamp",
  "missing_header",
  "repeated_header",
  "missing_id",
  "wrong_id",
  "unknown_company",
  "wrong_method",
  "too_large",
  "slow_body",
  "sender_gone",
  "too_busy",
  "not_open",
  "not_stored",
] as const;

/** One of them. */
export type RefusalReason = (typeof refusalReasons)[number];

/** What a delivery is answered; `why` is a text of this program and repeats no part of the request. */
export interface Answer {
  readonly status: number;
  readonly why: string;
  /** Null: it is accepted, or the request is no delivery. */
  readonly reason: RefusalReason | null;
}

/** The three headers of a delivery, each sent exactly once. */
export interface DeliveryHead {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
}

const headerNames = ["webhook-id", "webhook-timestamp", "webhook-signature"];
const maxSkewSeconds = 300;
const unreadablePrefix = "unreadable:";
const hexDigest = /^[0-9a-fA-F]{64}$/;

/** Reads the head; `rawHeaders` as Node gives them: names and values in turn, repeated ones included. */
export function readHead(rawHeaders: readonly string[]): DeliveryHead | Answer {
  const found = new Map<string, string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = deliveryHeader(rawHeaders[i] ?? "");
    if (name === null) continue;
    if (found.has(name))
      return { status: 400, why: `more than one ${name} header`, reason: "repeated_header" };
    found.set(name, rawHeaders[i + 1] ?? "");
  }
  const [id = "", timestamp = "", signature = ""] = headerNames.map((name) => found.get(name));
  const missing = headerNames.find((name) => !found.get(name));
  if (!missing) return { id, timestamp, signature };
  return { status: 400, why: `no ${missing} header`, reason: "missing_header" };
}

/** Null: another header. Most are recognized by their length alone. */
function deliveryHeader(written: string): string | null {
  if (written.length !== 10 && written.length !== 17) return null;
  const name = written.toLowerCase();
  return headerNames.includes(name) ? name : null;
}

/**
 * Is it a whole number of seconds, at most 300 s from `nowMs`? The header is not signed (interface document), so
 * this only keeps old copies out cheaply.
 */
export function isTimely(timestamp: string, nowMs: number): boolean {
  if (!/^\d{1,15}$/.test(timestamp)) return false;
  return Math.abs(Math.floor(nowMs / 1000) - Number(timestamp)) <= maxSkewSeconds;
}

/**
 * Is `signature` the HMAC-SHA256 of exactly these bytes, in hex, by one of the secrets? All secrets are tried and
 * each comparison takes the same time, so the time of an answer does not show how near a guess was.
 */
export function isSigned(body: Uint8Array, signature: string, secrets: readonly string[]): boolean {
  if (!hexDigest.test(signature)) return false;
  const given = Buffer.from(signature, "hex");
  let matches = 0;
  for (const secret of secrets) {
    // Anyone can sign with the empty key.
    if (secret === "") continue;
    matches += Number(timingSafeEqual(signatureOf(body, secret), given));
  }
  return matches > 0;
}

/** The HMAC-SHA256 of these bytes, or of the text in UTF-8. */
export function signatureOf(body: Uint8Array | string, secret: string): Buffer {
  return createHmac("sha256", secret).update(body).digest();
}

/** Parses a signed body. The event's id is the one in the body, which is signed; the header's must equal it. */
export function readDelivery(body: Buffer, headerId: string): Delivery | Answer {
  const text = isUtf8(body) ? body.toString() : null;
  const event = text === null ? null : objectIn(text);
  if (event === null) return deliveryOf(unreadableId(body), null, text ?? body);
  const { id } = event;
  if (typeof id !== "string" || id === "")
    return { status: 400, why: "the event has no id", reason: "missing_id" };
  if (!isSameId(id, headerId))
    return { status: 400, why: "webhook-id is not the event's id", reason: "wrong_id" };
  return deliveryOf(id, event, text ?? body);
}

/** Parses the body of a stored event again. */
export function readStored(eventId: string, body: string | Buffer): Delivery {
  const event = typeof body === "string" && !eventId.startsWith(unreadablePrefix) ? objectIn(body) : null;
  return deliveryOf(eventId, event, body);
}

/** `event` null: the body is unreadable. */
function deliveryOf(eventId: string, event: JsonObject | null, body: string | Buffer): Delivery {
  const { type, occurredAt, resource } = event ?? {};
  const about = isObject(resource) ? resource : {};
  return {
    eventId,
    readable: event !== null,
    type: textOrNull(type),
    resourceType: textOrNull(about["type"]),
    resourceId: idOrNull(about["id"]),
    occurredAt: textOrNull(occurredAt),
    body,
  };
}

function unreadableId(body: Buffer): string {
  return `${unreadablePrefix}${createHash("sha256").update(body).digest("hex")}`;
}

/** Null: no JSON, or JSON that is no object. */
function objectIn(text: string): JsonObject | null {
  try {
    const value = parseLossless(text.startsWith("\uFEFF") ? text.slice(1) : text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A header's characters are its bytes; those of the JSON text are decoded from UTF-8. */
function isSameId(id: string, headerId: string): boolean {
  return id === headerId || id === Buffer.from(headerId, "latin1").toString();
}

function textOrNull(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function idOrNull(value: JsonValue | undefined): RecordId | null {
  const integer = integerOf(value);
  return integer === null ? null : recordId(String(integer));
}
