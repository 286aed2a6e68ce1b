import type { Encoded } from "../http/encode.ts";
import type { Struck } from "./fault-plan.ts";

/** What the struck faults know of the request. */
export interface Scene {
  readonly authorization: string;
  /** The request's own URL. */
  readonly url: string;
}

/** Answers that arrive whole and are still not what the interface says. */
export function alter(encoded: Encoded, struck: Struck, scene: Scene): Encoded {
  const redirect = struck.get("redirect");
  if (redirect) return redirectTo(redirect.location ?? "https://elsewhere.example/", redirect.status);
  const same = struck.get("redirect_same");
  if (same) return redirectTo(scene.url, same.status);
  if (struck.has("html")) return html(encoded);
  if (struck.has("echo_token")) return echo(encoded, scene);
  const type = struck.get("content_type");
  const typed = type
    ? withHeader(encoded, "Content-Type", type.contentType ?? "text/plain; charset=utf-8")
    : encoded;
  if (struck.has("truncated"))
    return rewritten(typed, (body) => body.subarray(0, Math.floor(body.length * 0.7)));
  if (struck.has("invalid_json"))
    return rewritten(typed, (body) => Buffer.concat([body, Buffer.from(",,}]\n<!-- -->")]));
  return typed;
}

function redirectTo(location: string, status = 302): Encoded {
  return { status, headers: { Location: location, "Content-Type": "text/html" }, pieces: [], sizeBytes: 0 };
}

function html(encoded: Encoded): Encoded {
  const page = Buffer.from("<!doctype html><title>Maintenance</title><h1>Hneď sme späť…</h1>");
  return {
    ...withHeader(encoded, "Content-Type", "text/html; charset=UTF-8"),
    pieces: [page],
    sizeBytes: page.length,
  };
}

/** A careless error page that prints the request. */
function echo(encoded: Encoded, { authorization }: Scene): Encoded {
  const token = authorization.replace(/^Bearer +/i, "");
  const body = Buffer.from(
    JSON.stringify({ message: `Server Error while handling Authorization: ${authorization}`, token }),
  );
  return {
    ...withHeader(encoded, "Content-Type", "application/json"),
    status: 500,
    pieces: [body],
    sizeBytes: body.length,
  };
}

function withHeader(encoded: Encoded, name: string, value: string): Encoded {
  return { ...encoded, headers: { ...encoded.headers, [name]: value } };
}

function rewritten(encoded: Encoded, change: (body: Buffer) => Buffer): Encoded {
  const body = change(Buffer.concat(encoded.pieces));
  return { ...encoded, pieces: [body], sizeBytes: body.length };
}
