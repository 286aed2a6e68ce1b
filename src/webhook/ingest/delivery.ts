import { createHash } from "node:crypto";
import { isUtf8 } from "node:buffer";
import { recordId, type RecordId } from "../../base/ids.ts";
import { integerOf, NumberLiteral, type JsonObject, type JsonValue } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import type { Delivery } from "../../state/inbox/inbox.ts";

/** Why a delivery is not taken; no part of it is repeated. */
export interface Refusal {
  readonly status: 400 | 401;
  readonly why: string;
}

/** The three headers, each there once. */
export interface DeliveryHead {
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
}

const toleranceSeconds = 300;
const unreadablePrefix = "unreadable:";

/** `rawHeaders` as Node gives them: names and values in turn, repeated ones too. */
export function readHead(rawHeaders: readonly string[]): DeliveryHead | Refusal {
  const found = new Map<string, string>();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = ownName(rawHeaders[i] ?? "");
    if (name === null) continue;
    if (found.has(name)) return { status: 400, why: `more than one ${name} header` };
    found.set(name, rawHeaders[i + 1] ?? "");
  }
  const id = found.get("webhook-id");
  const timestamp = found.get("webhook-timestamp");
  const signature = found.get("webhook-signature");
  if (!id) return { status: 400, why: "no webhook-id header" };
  if (!timestamp) return { status: 400, why: "no webhook-timestamp header" };
  if (!signature) return { status: 400, why: "no webhook-signature header" };
  return { id, timestamp, signature };
}

/** Most headers are told apart by their length. */
function ownName(written: string): string | null {
  if (written.length !== 10 && written.length !== 17) return null;
  const name = written.toLowerCase();
  return name === "webhook-id" || name === "webhook-timestamp" || name === "webhook-signature" ? name : null;
}

/** A whole number of seconds, not more than five minutes away. Unsigned: it only keeps old copies out cheaply. */
export function isTimely(timestamp: string, nowMs: number): boolean {
  if (!/^\d{1,15}$/.test(timestamp)) return false;
  return Math.abs(Math.floor(nowMs / 1000) - Number(timestamp)) <= toleranceSeconds;
}

/** Only what is signed says which event this is; the header's id must be the same. */
export function readDelivery(body: Buffer, headerId: string): Delivery | Refusal {
  const text = isUtf8(body) ? body.toString() : null;
  const event = text === null ? null : objectIn(text);
  if (event === null) return unreadable(unreadableId(body), text ?? body);
  const { id } = event;
  if (typeof id !== "string" || id === "") return { status: 400, why: "the event has no id" };
  if (!isSameId(id, headerId)) return { status: 400, why: "webhook-id is not the event's id" };
  return readable(id, event, text ?? body);
}

/** The same of an event that is stored already, under the id it has. */
export function readStored(eventId: string, body: string | Buffer): Delivery {
  const event = typeof body === "string" && !eventId.startsWith(unreadablePrefix) ? objectIn(body) : null;
  return event === null ? unreadable(eventId, body) : readable(eventId, event, body);
}

function readable(eventId: string, event: JsonObject, body: string | Buffer): Delivery {
  const { type, occurredAt, resource } = event;
  const about = isObject(resource) ? resource : {};
  return {
    eventId,
    readable: true,
    type: textOrNull(type),
    resourceType: textOrNull(about["type"]),
    resourceId: idOrNull(about["id"]),
    occurredAt: textOrNull(occurredAt),
    body,
  };
}

function unreadable(eventId: string, body: string | Buffer): Delivery {
  return {
    eventId,
    readable: false,
    type: null,
    resourceType: null,
    resourceId: null,
    occurredAt: null,
    body,
  };
}

export function isRefusal(one: object): one is Refusal {
  return "status" in one;
}

function unreadableId(body: Buffer): string {
  return `${unreadablePrefix}${createHash("sha256").update(body).digest("hex")}`;
}

/** null: no JSON, or JSON that is no object. */
function objectIn(text: string): JsonObject | null {
  try {
    const value = parseLossless(text.startsWith("\uFEFF") ? text.slice(1) : text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  if (typeof value !== "object" || value === null) return false;
  return !Array.isArray(value) && !(value instanceof NumberLiteral);
}

/** A header comes as bytes, one character each; JSON says which characters they are. */
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
