import type { IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Upload } from "../model/records.ts";

/** A request, read to its end. */
export interface Incoming {
  readonly method: string;
  /** Below the base path; null outside of it. */
  readonly path: string | null;
  readonly fullPath: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Where the API begins. */
export const basePath = "/api/public/v1";

/** Reads the request with its body. */
export async function readRequest(request: IncomingMessage): Promise<Incoming> {
  const url = new URL(request.url ?? "/", "http://sandbox");
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  const inside = url.pathname === basePath || url.pathname.startsWith(`${basePath}/`);
  return {
    method: request.method ?? "GET",
    path: inside ? url.pathname.slice(basePath.length) : null,
    fullPath: url.pathname,
    query: Object.fromEntries(url.searchParams),
    // A request without a body, as most are, is not waited for.
    body: length === undefined && coding === undefined ? Buffer.alloc(0) : await buffer(request),
  };
}

/** The JSON object in a body; an empty one for anything else, so that validation names what is missing. */
export function parseJsonBody(body: Buffer): unknown {
  if (body.length === 0) return {};
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}

/** The files of a multipart body, from its field `files` or `files[]`; null for any other body. */
export async function parseFiles(body: Buffer, contentType: string): Promise<Upload[] | null> {
  if (!/^multipart\/form-data/i.test(contentType)) return null;
  const answer = new Response(new Uint8Array(body), { headers: { "content-type": contentType } });
  const form = await answer.formData().catch(() => null);
  const sent = form ? [...form.getAll("files"), ...form.getAll("files[]")] : [];
  const files = sent.filter((part) => part instanceof File);
  return Promise.all(
    files.map(async (file) => ({
      name: file.name,
      mimeType: file.type || "application/octet-stream",
      content: Buffer.from(await file.arrayBuffer()),
    })),
  );
}
