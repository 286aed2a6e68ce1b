import {
  array,
  constantFrom,
  integer,
  letrec,
  oneof,
  record,
  string,
  stringMatching,
  tuple,
  type Arbitrary,
} from "fast-check";
import { cutList } from "../../../src/json/cut.ts";
import { NumberLiteral, type JsonValue } from "../../../src/json/literal.ts";
import { parseLossless } from "../../../src/json/lossless.ts";

/** What a consumer gets out of a list answer: every slice cut, then parsed. */
export function readList(body: Buffer): { data: JsonValue[]; ids: (string | null)[] } {
  const data: JsonValue[] = [];
  const ids: (string | null)[] = [];
  for (const { slice, id } of cutList(body).records) {
    data.push(parseLossless(slice));
    ids.push(id);
  }
  return { data, ids };
}

/** The value with every number literal as the double that JSON.parse makes of it. */
export function asDoubles(value: JsonValue): unknown {
  if (value instanceof NumberLiteral) return Number(value.text);
  if (Array.isArray(value)) return value.map(asDoubles);
  if (typeof value !== "object" || value === null) return value;
  const copy = {};
  for (const [key, member] of Object.entries(value)) {
    const descriptor = { value: asDoubles(member), enumerable: true, writable: true, configurable: true };
    Object.defineProperty(copy, key, descriptor);
  }
  return copy;
}

const strings = /"(?:[^"\\]|\\.)*"(\s*:)?/gs;

function hasKeyWithBackslash(text: string): boolean {
  return Array.from(text.matchAll(strings)).some(([key, colon]) => colon && /\\(?:\\|u005c)/i.test(key));
}

/**
 * JSON.parse, or `undefined` where it refuses. A key that holds a backslash would make it misread other
 * keys ever after (nodejs/node#63785), so such a text is not shown to it.
 */
export function natively(text: string): unknown {
  try {
    if (hasKeyWithBackslash(text)) return asDoubles(parseLossless(text));
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

type SourceReviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;

/** The engine's own word on how the top-level `id` was written: an oracle that shares no code with ours. */
export function nativeIdOf(text: string): string | null {
  const written = new Map<unknown, string>();
  const reviver: SourceReviver = function (key, value, { source }) {
    if (key === "id" && source !== undefined && !Array.isArray(this)) written.set(this, source);
    return value;
  };
  const source = written.get(JSON.parse(text, reviver as Parameters<typeof JSON.parse>[1]));
  const [, number, quoted] = /^(?:(-?\d+)|"(-?(?:0|[1-9]\d*))")$/.exec(source ?? "") ?? [];
  return number ?? quoted ?? null;
}

const space = constantFrom("", "", "", " ", "\n", "\t", "\r\n  ");

/** Number literals in every writing that JSON allows, many of them beyond a double. */
export const numberText = oneof(
  constantFrom("0", "-0", "1.50", "1e2", "9007199254740993", "1E400", "1e-400", "0.1", "0e999", "5e-324"),
  constantFrom("0.30000000000000004", "1152921504606846976", "18446744073709551615", "0.000000000000000001"),
  stringMatching(/^-?(?:0|[1-9]\d{0,24})(?:\.\d{1,25})?$/),
  stringMatching(/^-?(?:0|[1-9]\d{0,24})(?:\.\d{1,25})?[eE][-+]?\d{1,4}$/),
);

const stringPart = oneof(
  constantFrom(" 12345678901234567", "\u2028", ..."{ } [ ] , : id data 1e400 č 🙂".split(" ")),
  constantFrom('\\"', "\\\\", "\\/", "\\n", "\\u0022", "\\u005C", "\\ud83d", "\\uDE00", "\\u0000"),
  string({ unit: "grapheme", maxLength: 4 }).map((text) => JSON.stringify(text).slice(1, -1)),
);
const integerString = constantFrom('"17"', '"-5"', '"0"', '"017"', '"9007199254740993"', '"1.5"', '"17 "');
const stringText = array(stringPart, { maxLength: 5 }).map((parts) => `"${parts.join("")}"`);

/** None with a backslash in it: see `natively`. */
const keyText = oneof(
  constantFrom('"id"', '"\\u0069d"', '"i\\u0064"', '"\\u0069\\u0064"', '"data"', '"paginator"'),
  constantFrom('"__proto__"', '"constructor"', '"1"', '""', '"ib"', '"ie\\u0064"'),
  stringText.filter((text) => !(JSON.parse(text) as string).includes("\\")),
);

function spaced(value: Arbitrary<string>): Arbitrary<string> {
  return tuple(space, value, space).map((parts) => parts.join(""));
}

function objectText(value: Arbitrary<string>, maxLength: number): Arbitrary<string> {
  const member = tuple(spaced(keyText), spaced(value)).map(([key, text]) => `${key}:${text}`);
  return array(member, { maxLength }).map((members) => `{${members.join(",")}}`);
}

function arrayText(value: Arbitrary<string>, maxLength: number): Arbitrary<string> {
  return array(spaced(value), { maxLength }).map((elements) => `[${elements.join(",")}]`);
}

/** Any JSON value as somebody may write it: white space, escapes, repeated keys and all. */
export const valueText: Arbitrary<string> = letrec<{ value: string }>((tie) => ({
  value: oneof(
    { depthSize: "small", withCrossShrink: true },
    constantFrom("true", "false", "null"),
    integerString,
    numberText,
    stringText,
    objectText(tie("value"), 5),
    arrayText(tie("value"), 4),
  ),
})).value;

export const recordText = objectText(valueText, 6);

/** A list answer with exactly one `data`, wherever it stands. */
export const listText = record({
  before: array(tuple(constantFrom('"meta"', '"paginator"', '"\\u0064"'), valueText), { maxLength: 2 }),
  key: constantFrom('"data"', '"data"', '"d\\u0061ta"'),
  data: oneof(
    { weight: 19, arbitrary: arrayText(oneof(recordText, recordText, valueText), 6) },
    { weight: 1, arbitrary: constantFrom("{}", "{ }") },
  ),
  after: array(tuple(constantFrom('"links"', '"paginator"'), valueText), { maxLength: 2 }),
  gap: space,
}).map(({ before, key, data, after, gap }) => {
  const members = [...before, [key, data], ...after].map((member) => member.join(`${gap}:${gap}`));
  return `${gap}{${gap}${members.join(`${gap},${gap}`)}${gap}}${gap}`;
});

export interface ExtremeText {
  readonly text: string;
  /** Levels of containers that were put around an ordinary value. */
  readonly depth: number;
}

/** Documents that are much deeper or longer than any record, and ones behind a byte order mark. */
export const extremeText: Arbitrary<ExtremeText> = oneof(
  record({
    inner: stringText,
    depth: oneof(integer({ min: 190, max: 210 }), integer({ min: 0, max: 60_000 })),
    brackets: constantFrom(["[", "]"] as const, ['{"a":', "}"] as const, ['[0,{"a":', "}]"] as const),
  }).map(({ inner, depth, brackets: [open, close] }) => {
    const levels = open.replaceAll(/[^[{]/g, "").length;
    return { text: open.repeat(depth) + inner + close.repeat(depth), depth: depth * levels };
  }),
  tuple(stringPart, integer({ min: 1, max: 30_000 })).map(([part, times]) => flat(`"${part.repeat(times)}"`)),
  tuple(valueText, integer({ min: 1, max: 3_000 })).map(([value, times]) =>
    flat(`[${Array.from({ length: times }, () => value).join()}]`),
  ),
  tuple(constantFrom("1", "0.1", "1e"), stringMatching(/^\d{1,9}$/), integer({ min: 1, max: 2_000 })).map(
    ([head, tail, times]) => flat(head + tail.repeat(times)),
  ),
  valueText.map((text) => flat(`\uFEFF${text}`)),
);

function flat(text: string): ExtremeText {
  return { text, depth: 0 };
}

/** The same text for equal numbers: digits that begin and end with no zero, and a power of ten. Null for no decimal number. */
export function exactValue(text: string): string | null {
  const [, sign, whole, fraction = "", power = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return null;
  const digits = (whole + fraction).replace(/^0+/, "");
  const kept = digits.replace(/0+$/, "");
  const exponent = BigInt(power) + BigInt(digits.length - kept.length - fraction.length);
  return kept === "" ? "0" : `${sign}${kept}e${exponent}`;
}
