import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { isUtf8 } from "node:buffer";
import { recordId, type RecordId } from "../../base/ids.ts";
import { valueOr } from "../../base/errors.ts";
import { integerOf, isObject, type JsonObject, type JsonValue } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import type { DeliveryForm } from "../../connector/service-protocol.ts";
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

/** How the first connector's service delivers. */
export const signedForm: DeliveryForm = { kind: "signed" };

/** Reads the head; `rawHeaders` as Node gives them: names and values in turn, repeated ones included. */
export function readHead(rawHeaders: readonly string[], form: DeliveryForm): DeliveryHead | Answer {
  const names = form.kind === "signed" ? headerNames : [form.idHeader, form.secretHeader];
  const values: (string | undefined)[] = [undefined, undefined, undefined];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const place = placeAmong(names, rawHeaders[i] ?? "");
    if (place === -1) continue;
    if (values[place] !== undefined)
      return { status: 400, why: `more than one ${names[place]} header`, reason: "repeated_header" };
    values[place] = rawHeaders[i + 1] ?? "";
  }
  const [id = "", timestamp = "", signature = ""] = values;
  const missing = names.find((_name, place) => !values[place]);
  // With the secret in a header there is no time: the second value is the secret.
  if (!missing && form.kind === "secret") return { id, timestamp: "", signature: timestamp };
  if (!missing) return { id, timestamp, signature };
  return { status: 400, why: `no ${missing} header`, reason: "missing_header" };
}

/** -1: another header. Most are recognized by their length alone. */
function placeAmong(names: readonly string[], written: string): number {
  return names.findIndex((name) => name.length === written.length && name === written.toLowerCase());
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

/** Is it one of the secrets? Their hashes are compared, so that the time of an answer shows no length either. */
export function isSecret(given: string, secrets: readonly string[]): boolean {
  const print = printOf(given);
  return secrets.filter((secret) => secret !== "" && timingSafeEqual(printOf(secret), print)).length > 0;
}

const printOf = (text: string) => hash("sha256", text, "buffer");

/** The HMAC-SHA256 of these bytes, or of the text in UTF-8. By way of a text: a buffer made by Node takes 0.6 µs longer. */
export function signatureOf(body: Uint8Array | string, secret: string | Buffer): Buffer {
  return Buffer.from(createHmac("sha256", secret).update(body).digest("binary"), "binary");
}

/** Parses a signed body. The event's id is the one in the body, which is signed; the header's must equal it. */
export function readDelivery(body: Buffer, headerId: string, form: DeliveryForm): Delivery | Answer {
  const text = isUtf8(body) ? body.toString() : null;
  const event = text === null ? null : objectIn(text);
  if (form.kind === "secret") return deliveryOf(headerId, event && plainEvent(event, form), text ?? body);
  if (event === null) return deliveryOf(`${unreadablePrefix}${hash("sha256", body)}`, null, text ?? body);
  const { id } = event;
  if (typeof id !== "string" || id === "")
    return { status: 400, why: "the event has no id", reason: "missing_id" };
  if (!isSameId(id, headerId))
    return { status: 400, why: "webhook-id is not the event's id", reason: "wrong_id" };
  return deliveryOf(id, event, text ?? body);
}

export function readStored(eventId: string, body: string | Buffer, form: DeliveryForm): Delivery {
  const event = typeof body === "string" && !eventId.startsWith(unreadablePrefix) ? objectIn(body) : null;
  return deliveryOf(eventId, event && form.kind === "secret" ? plainEvent(event, form) : event, body);
}

/** The event in the words of the signed form. Its record is below the longest kind that the type begins with. */
function plainEvent(event: JsonObject, form: DeliveryForm & { kind: "secret" }): JsonObject {
  const type = event[form.typeField] ?? null;
  const holder = event[form.recordField];
  const kinds = isObject(holder) ? Object.keys(holder) : [];
  const [kind] = kinds
    .filter((one) => typeof type === "string" && type.startsWith(`${one}_`))
    .toSorted((a, b) => b.length - a.length);
  const record = isObject(holder) && kind !== undefined ? holder[kind] : null;
  const id = isObject(record) ? (record["id"] ?? null) : null;
  return { type, occurredAt: event[form.atField] ?? null, resource: { type: kind ?? null, id } };
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

/** Null: no JSON, or JSON that is no object. */
function objectIn(text: string): JsonObject | null {
  const value = valueOr(() => parseLossless(text.startsWith("\uFEFF") ? text.slice(1) : text), null);
  return isObject(value) ? value : null;
}

/** A header's characters are its bytes; those of the JSON text are decoded from UTF-8. */
function isSameId(id: string, headerId: string): boolean {
  return id === headerId || id === Buffer.from(headerId, "latin1").toString();
}

function textOrNull(value: JsonValue | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function idOrNull(value: JsonValue | undefined): RecordId | null {
  // As in answers: PHP may give numbers as strings.
  return recordId(typeof value === "string" ? value : String(integerOf(value) ?? ""));
}
