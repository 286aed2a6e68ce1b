import type { JsonObject } from "../base/values.ts";
import type { Answer } from "./answer.ts";

/** An answer as bytes: in pieces of about a megabyte, nearly always one. */
export interface Encoded {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: readonly Buffer[];
}

/** Rewrites one record's JSON text; `text` is what would be sent. */
export type Rewrite = (record: JsonObject, text: string) => string;

/** What faults change in the JSON of a record or a list. */
export interface BodyChanges {
  readonly rewrite: Rewrite | null;
  readonly paginator: ((paginator: JsonObject) => JsonObject) | null;
  readonly emptyList: boolean;
  readonly duplicateFirst: boolean;
}

const unchanged: BodyChanges = { rewrite: null, paginator: null, emptyList: false, duplicateFirst: false };
const pieceChars = 1_000_000;

/** Writes the answer's body with its headers, `changes` applied. */
export function encode({ status, headers = {}, body }: Answer, changes = unchanged): Encoded {
  if (body.kind === "nothing") return { status, headers, pieces: [] };
  if (body.kind === "file") {
    const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(body.name)}`;
    const named = { ...headers, "Content-Type": body.mediaType, "Content-Disposition": disposition };
    return { status, headers: named, pieces: [body.content] };
  }
  const json = { ...headers, "Content-Type": "application/json" };
  if (body.kind === "list")
    return { status, headers: json, pieces: listPieces(body.records, body.paginator, changes) };
  const text = body.kind === "value" ? JSON.stringify(body.value) : recordText(body.record, changes.rewrite);
  return { status, headers: json, pieces: [Buffer.from(text)] };
}

function recordText(record: JsonObject, rewrite: Rewrite | null): string {
  const text = JSON.stringify(record);
  return rewrite ? rewrite(record, text) : text;
}

function listPieces(
  records: Iterable<JsonObject>,
  paginator: JsonObject | undefined,
  changes: BodyChanges,
): Buffer[] {
  const pieces: Buffer[] = [];
  let text = '{"data":[';
  let count = 0;
  for (const one of changes.emptyList ? [] : records) {
    const line = recordText(one, changes.rewrite);
    const twice = changes.duplicateFirst && count === 0;
    text += `${count === 0 ? "" : ","}${twice ? `${line},${line}` : line}`;
    count++;
    if (text.length < pieceChars) continue;
    pieces.push(Buffer.from(text));
    text = "";
  }
  const sent = paginator && changes.paginator ? changes.paginator(paginator) : paginator;
  text += sent ? `],"paginator":${JSON.stringify(sent)}}` : "]}";
  pieces.push(Buffer.from(text));
  return pieces;
}
