import type { Json, JsonObject } from "../base/values.ts";
import type { Struck } from "./fault-plan.ts";
import type { Rewrite } from "./fault.ts";

/** All that the struck faults do to one record's text, one after the other. */
export function rewriteOf(struck: Struck): Rewrite | null {
  const steps: Rewrite[] = [];
  if (struck.has("missing_ids")) steps.push((_, text) => text.replace(/^\{"id":[^,}]+,?/, "{"));
  if (struck.has("huge_ids"))
    steps.push((_, text) => text.replace(/^\{"id":(\d+)/, (_all, id: string) => `{"id":${hugeId(id)}`));
  if (struck.has("unknown_values"))
    steps.push((_, text) => text.replace(/"(type|status)":"[^"]*"/g, '"$1":"brand_new_value"'));
  if (struck.has("unknown_fields"))
    steps.push((_, text) => withFields(text, '"brandNewField":{"deep":[1,"ň",null]},"snowman ☃":true'));
  if (struck.has("missing_fields"))
    steps.push((_, text) => text.replace(/"(number|name)":"(?:[^"\\]|\\.)*",?/, ""));
  if (struck.has("proto_key"))
    steps.push((_, text) =>
      withFields(text, '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}'),
    );
  if (struck.has("number_literals")) steps.push((_, text) => oddNumbers(text));
  for (const { rewrite } of struck.all("rewrite")) steps.push(rewrite);
  if (steps.length === 0) return null;
  return (record, text) => steps.reduce((written, step) => step(record, written), text);
}

/** Beyond 2^53, and one apart for neighbours: read as doubles they would fall together. */
function hugeId(id: string): string {
  return String(9_007_199_254_740_992n + BigInt(id));
}

function withFields(text: string, fields: string): string {
  return text === "{}" ? `{${fields}}` : `${text.slice(0, -1)},${fields}}`;
}

/** The same kinds of number, written in ways that only text keeps. */
function oddNumbers(text: string): string {
  const total = text
    .replace(/"total":-?[\d.]+/, '"total":1e3')
    .replace(/"totalWithVat":-?[\d.]+/, '"totalWithVat":0.10');
  return withFields(total, '"bigNumber":9007199254740993,"longNumber":0.1000000000000000055511151231257827');
}

/** What lying paginators say. `turn` grows with each request. */
export function lieOf(struck: Struck, turn: number): ((paginator: JsonObject) => JsonObject) | null {
  if (struck.has("wrong_page"))
    return (paginator) => ({ ...paginator, currentPage: whole(paginator["currentPage"]) + 1 });
  if (struck.has("endless_pages")) return endless;
  if (struck.has("changing_totals")) {
    return (paginator) => ({
      ...paginator,
      totalResults: whole(paginator["totalResults"]) + (turn % 2 === 0 ? 1 : 0),
    });
  }
  return null;
}

function whole(value: Json | undefined): number {
  return typeof value === "number" ? value : 0;
}

function endless(paginator: JsonObject): JsonObject {
  const next = whole(paginator["currentPage"]) + 1;
  const { firstPageUrl } = paginator;
  const first = typeof firstPageUrl === "string" ? firstPageUrl : "";
  return { ...paginator, totalPages: next, nextPageUrl: first.replace(/page=\d+/, `page=${next}`) };
}
