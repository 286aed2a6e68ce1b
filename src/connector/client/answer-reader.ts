import { messageOf } from "../../base/errors.ts";
import { integerOf, isObject, NumberLiteral, type JsonValue } from "../../json/literal.ts";
import { parseLossless } from "../../json/lossless.ts";
import type { Operation } from "../operation.ts";
import { ProtocolError } from "../service-errors.ts";
import type { ServiceAnswer } from "../transport.ts";

/**
 * The content of an answer. Missing and odd fields are passed on. Throws a ProtocolError for an answer that is no
 * object, or a list without its records.
 */
export function readAnswer(operation: Operation, answer: ServiceAnswer): unknown {
  const expected = operation.answer;
  if (expected.kind === "nothing") return undefined;
  if (expected.kind === "file") return answer.body;
  const content = parse(operation, answer);
  if (!isObject(content)) throw unusable(operation, answer, "is no object");
  if (expected.kind === "record") return content;
  const { data, paginator } = content;
  if (!Array.isArray(data)) throw unusable(operation, answer, "has no data array");
  if (!data.every(isObject)) throw unusable(operation, answer, "has something else than records in data");
  if (!expected.paged) return data;
  if (!isObject(paginator)) throw unusable(operation, answer, "has no paginator");
  return content;
}

function parse(operation: Operation, answer: ServiceAnswer): unknown {
  try {
    return withPlainNumbers(parseLossless(answer.body));
  } catch (error) {
    throw unusable(operation, answer, `is not JSON (${messageOf(error)})`, error);
  }
}

/** A whole number beyond 2^53 becomes a bigint, so that an id stays exact; any other becomes the nearest double. */
function withPlainNumbers(value: JsonValue): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof NumberLiteral) return integerOf(value) ?? Number(value.text);
  if (Array.isArray(value)) return value.map(withPlainNumbers);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withPlainNumbers(one)]));
}

function unusable(operation: Operation, answer: ServiceAnswer, what: string, cause?: unknown): ProtocolError {
  const { status, requestId } = answer;
  const message = `${operation.name}: the answer to ${operation.method} ${operation.path} ${what}`;
  return new ProtocolError(message, { status, requestId, cause });
}
