import { isCalendarDay } from "../../base/clock.ts";
import type { ScalarType } from "../../connector/field.ts";
import { integerOf, NumberLiteral, type JsonValue } from "../../json/literal.ts";

/** The type of all values that an unknown field has had; null: it had none yet. */
export type SeenType = ScalarType | null;

/** Each holds the values of those before it. */
const numbers: readonly ScalarType[] = ["boolean", "integer", "decimal"];

/** The type of what was seen so far and of one value more. It only widens: at last to text, which holds every value. */
export function seenTypeWith(seen: SeenType, value: JsonValue): SeenType {
  if (seen === "text" || value === null) return seen;
  const type = typeOf(value);
  if (seen === null || seen === type) return type;
  const [one, other] = [numbers.indexOf(seen), numbers.indexOf(type)];
  return one < 0 || other < 0 ? "text" : (numbers[Math.max(one, other)] ?? "text");
}

/** By the JSON itself: the text "007" is no number, and a number that a double would change is kept as text. */
function typeOf(value: Exclude<JsonValue, null>): ScalarType {
  if (typeof value === "boolean") return "boolean";
  if (integerOf(value) !== null) return "integer";
  if (typeof value === "number") return "decimal";
  if (value instanceof NumberLiteral) return "text";
  if (typeof value !== "string") return "json";
  const [, day = "", time] =
    /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:?\d\d)?)?$/.exec(value) ?? [];
  if (!isCalendarDay(day)) return "text";
  if (time === undefined) return "date";
  return Number.isNaN(Date.parse(`${day}T${time.slice(1)}`)) ? "text" : "timestamp";
}
