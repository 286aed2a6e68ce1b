import { decimalText, NumberLiteral, type JsonObject, type JsonValue } from "./literal.ts";

/** Do two writings of a record say the same wherever both say something? Order and zeros do not matter. */
export function jsonEquals(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (a instanceof NumberLiteral && b instanceof NumberLiteral) return decimalText(a) === decimalText(b);
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((one, i) => jsonEquals(one, b[i] ?? null));
  }
  return isPlain(a) && isPlain(b) && agreeInKeys(a, b);
}

function agreeInKeys(a: JsonObject, b: JsonObject): boolean {
  return Object.entries(a).every(
    ([key, value]) => !Object.hasOwn(b, key) || jsonEquals(value, b[key] ?? null),
  );
}

function isPlain(value: JsonValue): value is JsonObject {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NumberLiteral)
  );
}
