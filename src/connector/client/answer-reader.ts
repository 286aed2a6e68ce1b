import { messageOf } from "../../base/errors.ts";
import { integerOf, isObject, NumberLiteral, type JsonValue } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import { ProtocolError } from "../service-errors.ts";
import type { Operation } from "../operation.ts";
import type { ServiceAnswer } from "../transport.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * An answer as it came. A missing or odd field is passed on, for what the service says is the fact;
 * refused is only what has no use at all: no object, or a list without its records.
 */
export function readAnswer(operation: Operation, answer: ServiceAnswer): unknown {
  const expected = operation.answer;
  if (expected.kind === "record") return objectOf(operation, answer);
  if (expected.kind === "list") return listOf(operation, answer, expected.paged);
  return expected.kind === "file" ? answer.body : undefined;
}

function listOf(operation: Operation, answer: ServiceAnswer, paged: boolean): unknown {
  const body = objectOf(operation, answer);
  const { data } = body;
  if (!Array.isArray(data)) throw unusable(operation, answer, "has no data array");
  if (!data.every(isObject)) throw unusable(operation, answer, "has something else than records in data");
  if (!paged) return data;
  if (!isObject(body["paginator"])) throw unusable(operation, answer, "has no paginator");
  return body;
}

function objectOf(operation: Operation, answer: ServiceAnswer): JsonObject {
  const value = parse(operation, answer);
  if (!isObject(value)) throw unusable(operation, answer, "is no object");
  return value;
}

function parse(operation: Operation, answer: ServiceAnswer): unknown {
  try {
    return plain(parseLossless(answer.body));
  } catch (error) {
    throw unusable(operation, answer, `is not JSON (${messageOf(error)})`, error);
  }
}

/**
 * A whole number beyond 2^53 is a bigint, so that an id still names its record; any other that a double
 * cannot hold is the nearest one, as its type says.
 */
function plain(value: JsonValue): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof NumberLiteral) return integerOf(value) ?? Number(value.text);
  if (Array.isArray(value)) return value.map(plain);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

function unusable(operation: Operation, answer: ServiceAnswer, what: string, cause?: unknown): ProtocolError {
  const { status, requestId } = answer;
  const message = `${operation.name}: the answer to ${operation.method} ${operation.path} ${what}`;
  return new ProtocolError(message, { status, requestId, cause });
}
