import type { Rewrite } from "../faults/fault.ts";
import type { JsonObject } from "../base/values.ts";
import type { Answer } from "./answer.ts";

/** An answer as bytes: in pieces of about a megabyte, nearly always one. */
export interface Encoded {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly pieces: readonly Buffer[];
  readonly sizeBytes: number;
}

export interface Retouch {
  readonly rewrite: Rewrite | null;
  readonly lie: ((paginator: JsonObject) => JsonObject) | null;
  readonly emptyList: boolean;
  readonly duplicate: boolean;
}

const noRetouch: Retouch = { rewrite: null, lie: null, emptyList: false, duplicate: false };

const pieceChars = 1_000_000;

export function encode(answer: Answer, retouch: Retouch = noRetouch): Encoded {
  const { status, headers = {}, body } = answer;
  if (body.kind === "nothing") return finish(status, { ...headers }, []);
  if (body.kind === "value") return finish(status, json(headers), [Buffer.from(JSON.stringify(body.value))]);
  if (body.kind === "record") {
    return finish(status, json(headers), [Buffer.from(written(body.record, retouch.rewrite))]);
  }
  if (body.kind === "list")
    return finish(status, json(headers), listPieces(body.records, body.paginator, retouch));
  const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(body.fileName)}`;
  const named = { ...headers, "Content-Type": body.mediaType, "Content-Disposition": disposition };
  return finish(status, named, [body.content]);
}

function json(headers: Readonly<Record<string, string>>): Record<string, string> {
  return { ...headers, "Content-Type": "application/json" };
}

function finish(status: number, headers: Record<string, string>, pieces: Buffer[]): Encoded {
  return { status, headers, pieces, sizeBytes: pieces.reduce((sum, piece) => sum + piece.length, 0) };
}

function written(record: JsonObject, rewrite: Rewrite | null): string {
  const text = JSON.stringify(record);
  return rewrite ? rewrite(record, text) : text;
}

function listPieces(
  records: Iterable<JsonObject>,
  paginator: JsonObject | undefined,
  retouch: Retouch,
): Buffer[] {
  const pieces: Buffer[] = [];
  let text = '{"data":[';
  let count = 0;
  for (const one of retouch.emptyList ? [] : records) {
    const line = written(one, retouch.rewrite);
    const twice = retouch.duplicate && count === 0;
    text += `${count === 0 ? "" : ","}${twice ? `${line},${line}` : line}`;
    count++;
    if (text.length < pieceChars) continue;
    pieces.push(Buffer.from(text));
    text = "";
  }
  const told = paginator && retouch.lie ? retouch.lie(paginator) : paginator;
  text += told ? `],"paginator":${JSON.stringify(told)}}` : "]}";
  pieces.push(Buffer.from(text));
  return pieces;
}
