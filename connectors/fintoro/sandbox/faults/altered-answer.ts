import type { Json, JsonObject } from "../base/values.ts";
import type { BodyChanges, Encoded, Rewrite } from "../http/service-answer.ts";
import type { ActiveFaults, FaultKind } from "./service-fault.ts";

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

/** What the faults do to the JSON of records and lists. `turn` grows with each request. */
export function bodyChangesOf(faults: ActiveFaults, turn: number): BodyChanges {
  const named = recordRewrites.filter(([kind]) => faults.has(kind)).map(([, rewrite]) => rewrite);
  const rewrites = [...named, ...faults.all("rewrite").map(({ rewrite }) => rewrite)];
  return {
    rewrite:
      rewrites.length === 0
        ? null
        : (record, text) => rewrites.reduce((written, rewrite) => rewrite(record, written), text),
    paginator: paginatorChange(faults, turn),
    emptyList: faults.has("empty_list"),
    duplicateFirst: faults.has("duplicate_ids"),
  };
}

const recordRewrites: readonly (readonly [FaultKind, Rewrite])[] = [
  ["missing_ids", (_, text) => text.replace(/^\{"id":[^,}]+,?/, "{")],
  ["huge_ids", (_, text) => text.replace(/^\{"id":(\d+)/, (_all, id: string) => `{"id":${hugeId(id)}`)],
  ["unknown_values", (_, text) => text.replace(/"(type|status)":"[^"]*"/g, '"$1":"brand_new_value"')],
  ["unknown_fields", (_, text) => withFields(text, '"brandNewField":{"deep":[1,"ň",null]},"snowman ☃":true')],
  ["missing_fields", (_, text) => text.replace(/"(number|name)":"(?:[^"\\]|\\.)*",?/, "")],
  [
    "proto_key",
    (_, text) =>
      withFields(text, '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}'),
  ],
  ["number_literals", (_, text) => oddNumbers(text)],
];

/** Beyond 2^53, and one apart for neighbours: two of them are the same number as doubles. */
function hugeId(id: string): string {
  return String(9_007_199_254_740_992n + BigInt(id));
}

function withFields(text: string, fields: string): string {
  return text === "{}" ? `{${fields}}` : `${text.slice(0, -1)},${fields}}`;
}

/** Numbers of the usual kinds, written in ways that only the text preserves. */
function oddNumbers(text: string): string {
  const total = text
    .replace(/"total":-?[\d.]+/, '"total":1e3')
    .replace(/"totalWithVat":-?[\d.]+/, '"totalWithVat":0.10');
  return withFields(total, '"bigNumber":9007199254740993,"longNumber":0.1000000000000000055511151231257827');
}

function paginatorChange(faults: ActiveFaults, turn: number): BodyChanges["paginator"] {
  if (faults.has("wrong_page")) return (paginator) => plus(paginator, "currentPage", 1);
  if (faults.has("endless_pages")) return endlessPages;
  if (faults.has("changing_totals")) return (paginator) => plus(paginator, "totalResults", (turn + 1) % 2);
  return null;
}

function plus(paginator: JsonObject, key: string, more: number): JsonObject {
  return { ...paginator, [key]: whole(paginator[key]) + more };
}

function whole(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

function endlessPages(paginator: JsonObject): JsonObject {
  const next = whole(paginator["currentPage"]) + 1;
  const { firstPageUrl } = paginator;
  const first = typeof firstPageUrl === "string" ? firstPageUrl : "";
  return { ...paginator, totalPages: next, nextPageUrl: first.replace(/page=\d+/, `page=${next}`) };
}
