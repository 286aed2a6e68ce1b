import type { IncomingHttpHeaders } from "node:http";
import type { ServiceRequest } from "../connector/transport.ts";
import type { BudgetHeaderForm } from "../connector/service-protocol.ts";

export type AnswerHeaders = Readonly<Record<string, string>>;

export interface RequestSender {
  readonly token: string;
  readonly language: string;
  readonly userAgent: string;
}

export function requestHeaders(sender: RequestSender, request: ServiceRequest): Record<string, string> {
  const { expect, idempotencyKey } = request;
  return {
    accept: expect === "bytes" ? "*/*" : "application/json",
    "accept-language": sender.language,
    "user-agent": sender.userAgent,
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    "accept-encoding": "gzip, deflate, br",
    authorization: `Bearer ${sender.token}`,
  };
}

export function answerHeaders(raw: IncomingHttpHeaders): AnswerHeaders {
  const entries = Object.entries(raw).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), [value].flat().join(", ")]));
}

/** The rate limit headers (interface document, "Limits"), in the form that the connector declares. */
export function budgetHeaders(headers: AnswerHeaders, nowMs: number, form: BudgetHeaderForm = "numbers") {
  const member = (name: string, key: string) =>
    parseWholeNumber(new RegExp(`;\\s*${key}=(\\d+)`).exec(headers[name] ?? "")?.[1]);
  const waitS = retryAfterS(headers, nowMs);
  if (form === "structured")
    return {
      limit: member("x-ratelimit-policy", "q"),
      remaining: member("x-ratelimit", "r"),
      retryAfterS: waitS ?? member("x-ratelimit", "t"),
    };
  return {
    limit: parseWholeNumber(headers["x-ratelimit-limit"]),
    remaining: parseWholeNumber(headers["x-ratelimit-remaining"]),
    retryAfterS: waitS,
  };
}

/** `Retry-After` in seconds, given as such or as an HTTP date; null when absent or unreadable. */
export function retryAfterS(headers: AnswerHeaders, nowMs: number): number | null {
  const text = headers["retry-after"]?.trim();
  if (!text) return null;
  const seconds = parseWholeNumber(text);
  if (seconds !== null) return seconds;
  const atMs = /[a-z]{3}/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, Math.ceil((atMs - nowMs) / 1000));
}

/** A number of up to 15 digits; null for anything else. */
export function parseWholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : null;
}

export function mediaType(headers: AnswerHeaders): string {
  return (headers["content-type"] ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

export function isJson(type: string): boolean {
  return type === "application/json" || /^application\/[\w.-]+\+json$/.test(type);
}
