import type { JsonObject } from "../base/values.ts";
import type { BodyChanges, Encoded, Rewrite } from "../http/service-answer.ts";
import type { ActiveFaults } from "./service-fault.ts";

/** What the altered answers show of the request. */
interface ShownRequest {
  readonly authorization: string;
  /** The request's own URL. */
  readonly url: string;
}

/** Applies faults whose answers arrive whole, but are not what the interface describes. */
export function alterAnswer(encoded: Encoded, faults: ActiveFaults, request: ShownRequest): Encoded {
  const [redirect, same] = [faults.get("redirect"), faults.get("redirect_same")];
  if (redirect) return redirectTo(redirect.location ?? "https://elsewhere.example/", redirect.status);
  if (same) return redirectTo(request.url, same.status);
  const as = (contentType: string, body: Buffer | string = encoded.body): Encoded => {
    const headers = { ...encoded.headers, "Content-Type": contentType };
    return { ...encoded, headers, body: Buffer.from(body) };
  };
  if (faults.has("html"))
    return as("text/html; charset=UTF-8", "<!doctype html><title>Maintenance</title><h1>Hneď sme späť…</h1>");
  if (faults.has("echo_token")) {
    // A careless error page that prints the request.
    const token = request.authorization.replace(/^Bearer +/i, "");
    const message = `Server Error while handling Authorization: ${request.authorization}`;
    return { ...as("application/json", JSON.stringify({ message, token })), status: 500 };
  }
  const type = faults.get("content_type");
  const typed = type ? as(type.contentType ?? "text/plain; charset=utf-8") : encoded;
  const { body } = typed;
  if (faults.has("truncated")) return { ...typed, body: body.subarray(0, Math.floor(body.length * 0.7)) };
  if (faults.has("invalid_json"))
    return { ...typed, body: Buffer.concat([body, Buffer.from(",,}]\n<!-- -->")]) };
  return typed;
}

function redirectTo(location: string, status = 302): Encoded {
  return { status, headers: { Location: location, "Content-Type": "text/html" }, body: Buffer.alloc(0) };
}

/** What the faults do to the JSON of records and lists. `turn` grows with each request. */
export function bodyChangesOf(faults: ActiveFaults, turn: number): BodyChanges {
  const named = Object.entries(rewrites).flatMap(([kind, rewrite]) => (faults.has(kind) ? [rewrite] : []));
  const all = [...named, faults.get("rewrite")?.rewrite ?? ((_, text) => text)];
  return {
    rewrite: (record, text) => all.reduce((written, next) => next(record, written), text),
    paginator: (paginator) => alterPaginator(paginator, faults, turn),
    emptyList: faults.has("empty_list"),
    duplicateFirst: faults.has("duplicate_ids"),
  };
}

/** Beyond 2^53, and one apart for neighbours: two of them are the same number as doubles. */
const hugeId = (id: string) => String(9_007_199_254_740_992n + BigInt(id));

function withFields(text: string, fields: string): string {
  return text === "{}" ? `{${fields}}` : `${text.slice(0, -1)},${fields}}`;
}

/** What each fault makes of the text of a record. */
const rewrites: Readonly<Record<string, Rewrite>> = {
  missing_ids: (_, text) => text.replace(/^\{"id":[^,}]+,?/, "{"),
  huge_ids: (_, text) => text.replace(/^\{"id":(\d+)/, (_all, id: string) => `{"id":${hugeId(id)}`),
  unknown_values: (_, text) => text.replace(/"(type|status)":"[^"]*"/g, '"$1":"brand_new_value"'),
  unknown_fields: (_, text) => withFields(text, '"brandNewField":{"deep":[1,"ň",null]},"snowman ☃":true'),
  missing_fields: (_, text) => text.replace(/"(number|name)":"(?:[^"\\]|\\.)*",?/, ""),
  proto_key: (_, text) =>
    withFields(text, '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}'),
  // Numbers of the usual kinds, written in ways that only the text preserves.
  number_literals: (_, text) =>
    withFields(
      text
        .replace(/"total":-?[\d.]+/, '"total":1e3')
        .replace(/"totalWithVat":-?[\d.]+/, '"totalWithVat":0.10'),
      '"bigNumber":9007199254740993,"longNumber":0.1000000000000000055511151231257827',
    ),
};

function alterPaginator(paginator: JsonObject, faults: ActiveFaults, turn: number): JsonObject {
  const [page, total] = [Number(paginator["currentPage"]), Number(paginator["totalResults"])];
  if (faults.has("wrong_page")) return { ...paginator, currentPage: page + 1 };
  if (faults.has("changing_totals")) return { ...paginator, totalResults: total + ((turn + 1) % 2) };
  if (!faults.has("endless_pages")) return paginator;
  const { firstPageUrl } = paginator;
  const first = typeof firstPageUrl === "string" ? firstPageUrl : "";
  const nextPageUrl = first.replace(/page=\d+/, `page=${page + 1}`);
  return { ...paginator, totalPages: page + 1, nextPageUrl };
}
