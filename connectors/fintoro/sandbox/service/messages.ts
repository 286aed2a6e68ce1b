import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { valueOr } from "../../../../src/base/errors.ts";
import type { AnsweredRecord } from "../base/values.ts";
import type { ServiceLanguage } from "../lookups/lookup-lists.ts";
import type { Company, Upload } from "../model/company.ts";
import { Invalid, Missing } from "../rules/rules.ts";

export const basePath = "/api/public/v1";

export type WholeRequest = Awaited<ReturnType<typeof readRequest>>;

/** Reads the request with its body; `path` is below the base path, or null outside of it. */
export async function readRequest(request: IncomingMessage) {
  const url = new URL(request.url ?? "/", "http://sandbox");
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  const inside = url.pathname === basePath || url.pathname.startsWith(`${basePath}/`);
  return {
    method: request.method ?? "GET",
    path: inside ? url.pathname.slice(basePath.length) : null,
    fullPath: url.pathname,
    query: Object.fromEntries(url.searchParams) as Readonly<Record<string, string>>,
    // A request without a body, as most are, is not waited for.
    body: length === undefined && coding === undefined ? Buffer.alloc(0) : await buffer(request),
  };
}

/** The JSON object in a body; an empty one for anything else, so that validation names what is missing. */
export function parseJsonBody(body: Buffer): unknown {
  const value: unknown = valueOr(() => JSON.parse(body.toString("utf8")) as unknown, null);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

/** The files of a multipart body, from its field `files` or `files[]`; null for any other body. */
export async function parseFiles(body: Buffer, contentType: string): Promise<Upload[] | null> {
  if (!/^multipart\/form-data/i.test(contentType)) return null;
  const answer = new Response(new Uint8Array(body), { headers: { "content-type": contentType } });
  const form = await answer.formData().catch(() => null);
  const sent = form ? [...form.getAll("files"), ...form.getAll("files[]")] : [];
  const files = sent.filter((part) => part instanceof File);
  return Promise.all(
    files.map(async (part) => ({
      name: part.name,
      mimeType: part.type || "application/octet-stream",
      content: Buffer.from(await part.arrayBuffer()),
    })),
  );
}

export interface RouteCall {
  readonly company: Company;
  readonly language: ServiceLanguage;
  /** The id in the path; NaN where it is not a number. */
  readonly id: number;
  readonly query: Readonly<Record<string, string>>;
  /** Parsed JSON; an empty object where there was none. */
  readonly input: unknown;
  /** Of a multipart request: the content of its field `files`. */
  readonly files: readonly Upload[];
  /** A number that grows: equal sort keys come in another order each time. Null sorts them by id. */
  readonly shuffle: number | null;
}

/** What answers a method on a path, such as `GET /invoices/{id}/pdf`. */
export type Routes = Readonly<Record<string, (call: RouteCall) => Reply>>;

export type Router = ReturnType<typeof routerOf>;

/** The second segment of a path is the id wherever there is one. */
export function routerOf(routes: Routes) {
  return (method: string, path: string) => {
    const [, name, id = "", ...rest] = path.replace(/\/$/, "").split("/");
    const segments = ["", name, ...(id === "" ? [] : ["{id}"]), ...rest];
    const handle = routes[`${method} ${segments.join("/")}`];
    return handle ? { handle, id: /^\d{1,15}$/.test(id) ? Number(id) : Number.NaN } : null;
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export function replyWith(content: object, status = 200): Reply {
  const headers = { "Content-Type": "application/json" };
  return { status, headers, body: Buffer.from(JSON.stringify(content)) };
}

export const list = (data: readonly AnsweredRecord[], paginator?: AnsweredRecord) =>
  replyWith({ data, paginator });
export const nothing = (status = 204): Reply => ({ status, headers: {}, body: Buffer.alloc(0) });
export const error = (status: number, message: string) => replyWith({ message }, status);

/** What a handler answers, or how the service refuses. @throws what is no refusal */
export function answerTo({ code }: ServiceLanguage, handle: () => Reply): Reply {
  try {
    return handle();
  } catch (cause) {
    if (cause instanceof Missing) return error(404, cause.message);
    if (cause instanceof Invalid) return replyWith(cause.body(code), 422);
    throw cause;
  }
}

export function file(mediaType: string, name: string, body: Buffer): Reply {
  const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(name)}`;
  return { status: 200, headers: { "Content-Type": mediaType, "Content-Disposition": disposition }, body };
}

export function send(response: ServerResponse, { status, headers, body }: Reply): void {
  const length = status === 204 ? {} : { "Content-Length": String(body.length) };
  response.writeHead(status, { ...headers, ...length });
  response.end(body);
}
