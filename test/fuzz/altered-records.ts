import * as fc from "fast-check";
import type { Dict } from "../support/truth/truth.ts";

/** One thing about a record that is not as it should be. */
export interface Alteration {
  readonly kind: "set" | "drop" | "repeat" | "within" | "add" | "whole";
  /** Which of the record's keys, counted over and over. */
  readonly at: number;
  /** JSON text: a value as no `JSON.stringify` would write it, too. */
  readonly text: string;
  /** Of a key that is added. */
  readonly name: string;
}

const quotedText = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "a\u0000b",
    "\ud800",
    "\udc00\ud800",
    ..."\u0000 \u202eabc e\u0301 ﬁ İ 🙂".split(" "),
  ),
  fc.constantFrom("0000-00-00 00:00:00", ..."0 17 1e3 -1 007 null true NaN 2026-02-30 =1+1".split(" ")),
  fc.constant("x".repeat(70_000)),
  fc.string({ unit: "binary", maxLength: 8 }),
);

const numbers = [
  "0 -0 -1 1.0 1.50 17 1e3 1E-7 0.1e1 2.5 1e400 -1e400 5e-324 9007199254740993 -9223372036854775808",
  "9223372036854775807 9223372036854775808 123456789012345678901234567890 0.30000000000000004 1e-400",
].flatMap((line) => line.split(" "));

const nested = [1, 30, 150].map((depth) => `${"[".repeat(depth)}${"]".repeat(depth)}`);

const anyText = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...numbers) },
  { weight: 3, arbitrary: quotedText.map((text) => JSON.stringify(text)) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...'null true false {} [] [null] [[]] [{}] [1,2] {"id":1} {"id":null} [{"id":1},{"id":1}]'.split(" "),
      ...nested,
      '{"a":1,"a":2}',
      '{"__proto__":{"id":1}}',
    ),
  },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)) },
);

const addedNames = [
  "id ",
  "",
  "\ud800",
  ..."ID Name _id rowid __proto__ constructor é 🙂 _deleted_at".split(" "),
];

/** What may be wrong with a record. Its id is chosen more often than its other keys. */
export const alteration: fc.Arbitrary<Alteration> = fc.record({
  kind: fc.oneof(
    { weight: 8, arbitrary: fc.constant("set" as const) },
    { weight: 3, arbitrary: fc.constant("within" as const) },
    { weight: 2, arbitrary: fc.constantFrom("drop" as const, "repeat" as const, "add" as const) },
    { weight: 1, arbitrary: fc.constant("whole" as const) },
  ),
  at: fc.oneof({ weight: 1, arbitrary: fc.constant(0) }, { weight: 6, arbitrary: fc.nat({ max: 60 }) }),
  text: anyText,
  name: fc.constantFrom(...addedNames),
});

/** The key that an alteration is about: the same in a preview as in the whole record. */
export function alteredKey(whole: Dict, { at }: Alteration): string {
  const keys = Object.keys(whole);
  return keys[at % keys.length] ?? "id";
}

/**
 * The JSON text of an altered record.
 *
 * @param shown what is shown of it: all, or a preview
 * @param whole the record before, with all of its keys
 */
export function alteredText(shown: Dict, whole: Dict, alterations: readonly Alteration[]): string {
  let members = Object.entries(shown).map(([key, value]) => ({ key, text: JSON.stringify(value) }));
  for (const one of alterations) {
    if (one.kind === "whole") return one.text;
    const key = one.kind === "add" ? one.name : alteredKey(whole, one);
    if (one.kind === "add") members.push({ key, text: one.text });
    else if (one.kind === "drop") members = members.filter((member) => member.key !== key);
    else members = members.flatMap((member) => (member.key === key ? alteredMember(member, one) : [member]));
  }
  return `{${members.map(({ key, text }) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
}

interface Member {
  readonly key: string;
  readonly text: string;
}

function alteredMember({ key, text }: Member, one: Alteration): Member[] {
  const other = { key, text: one.text };
  if (one.kind === "repeat") return [{ key, text }, other];
  // An earlier alteration may have put a number there that JavaScript cannot hold: that is no object either.
  const value = one.kind === "within" ? (JSON.parse(text) as unknown) : null;
  if (Array.isArray(value)) {
    const [first, ...rest] = value.map((part) => JSON.stringify(part));
    return [{ key, text: `[${[...(first ? [first] : []), one.text, ...rest].join(",")}]` }];
  }
  if (typeof value === "object" && value !== null) {
    const inner = value as Dict;
    return [{ key, text: alteredText(inner, inner, [{ ...one, kind: "set" }]) }];
  }
  return [other];
}
