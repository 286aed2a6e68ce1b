import { ProtocolError } from "../connector/service-errors.ts";
import type { ServiceRequest } from "../connector/transport.ts";
import { isJson, mediaType, type AnswerHeaders } from "./headers.ts";
import type { SafeText } from "./safe-text.ts";

type Expected = ServiceRequest["expect"];

export interface Success {
  readonly where: string;
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly requestId: string | null;
}

/** Known by the head: is this the kind of answer that was asked for? null: yes. */
export function wrongKind(success: Success, expect: Expected, words: SafeText): ProtocolError | null {
  const { status, headers } = success;
  if (status === 204) return expect === "nothing" ? null : notAsAsked(success, "no content");
  const type = mediaType(headers);
  return fits(type, headers, expect) ? null : notAsAsked(success, named(type, words));
}

function fits(type: string, headers: AnswerHeaders, expect: Expected): boolean {
  if (expect === "json") return isJson(type);
  if (expect === "bytes") return type !== "text/html";
  return isJson(type) || type === "" || headers["content-length"] === "0";
}

/** Known by the body only. */
export function emptyJson(success: Success, expect: Expected, body: Buffer): ProtocolError | null {
  return expect === "json" && body.length === 0 ? notAsAsked(success, "an empty answer") : null;
}

/** A page of a proxy, a maintenance page: it may be gone in a moment. */
function notAsAsked({ where, status, requestId }: Success, got: string): ProtocolError {
  return new ProtocolError(`${where}: ${status} with ${got} in place of what the interface promises`, {
    status,
    requestId,
    retryable: true,
    hint: "a proxy or a maintenance page may be answering for the service; check base_url if it stays",
  });
}

function named(type: string, words: SafeText): string {
  return type === "" ? "no content type" : `content type ${JSON.stringify(words(type, 60))}`;
}
