import type { Encoded } from "../http/service-answer.ts";
import type { ActiveFaults } from "./service-fault.ts";

/** What the altered answers show of the request. */
export interface ShownRequest {
  readonly authorization: string;
  /** The request's own URL. */
  readonly url: string;
}

/** Applies faults whose answers arrive whole, but are not what the interface describes. */
export function alterAnswer(encoded: Encoded, faults: ActiveFaults, request: ShownRequest): Encoded {
  const redirect = faults.get("redirect");
  if (redirect) return redirectTo(redirect.location ?? "https://elsewhere.example/", redirect.status);
  const same = faults.get("redirect_same");
  if (same) return redirectTo(request.url, same.status);
  if (faults.has("html")) {
    const page = "<!doctype html><title>Maintenance</title><h1>Hneď sme späť…</h1>";
    return { ...withType(encoded, "text/html; charset=UTF-8"), body: Buffer.from(page) };
  }
  if (faults.has("echo_token")) return echoToken(encoded, request);
  const type = faults.get("content_type");
  const typed = type ? withType(encoded, type.contentType ?? "text/plain; charset=utf-8") : encoded;
  const { body } = typed;
  if (faults.has("truncated")) return { ...typed, body: body.subarray(0, Math.floor(body.length * 0.7)) };
  if (faults.has("invalid_json"))
    return { ...typed, body: Buffer.concat([body, Buffer.from(",,}]\n<!-- -->")]) };
  return typed;
}

function redirectTo(location: string, status = 302): Encoded {
  return { status, headers: { Location: location, "Content-Type": "text/html" }, body: Buffer.alloc(0) };
}

/** A careless error page that prints the request. */
function echoToken(encoded: Encoded, { authorization }: ShownRequest): Encoded {
  const token = authorization.replace(/^Bearer +/i, "");
  const message = `Server Error while handling Authorization: ${authorization}`;
  const body = Buffer.from(JSON.stringify({ message, token }));
  return { ...withType(encoded, "application/json"), status: 500, body };
}

function withType(encoded: Encoded, contentType: string): Encoded {
  return { ...encoded, headers: { ...encoded.headers, "Content-Type": contentType } };
}
