import * as fc from "fast-check";
import * as schema from "../../src/connector/record-schema.ts";
import { published } from "../support/mirror/mirror.ts";

const { boolean, date, decimal, integer, json, orNull, record, text, timestamp } = schema;

/** A resource with a column of each type. */
const shaped = {
  record: record({
    id: integer(),
    whole: orNull(integer()),
    amount: orNull(decimal()),
    flag: orNull(boolean()),
    day: orNull(date()),
    moment: orNull(timestamp()),
    note: orNull(text()),
    extra: orNull(json(record({}))),
  }),
  list: { kind: "whole", path: "/samples" },
} as const;
export const samples = published("samples", "sample", shaped, false);

const largest = 2n ** 63n;
const whole = fc.oneof(
  fc.bigInt({ min: -largest, max: largest - 1n }),
  fc.constantFrom(0n, -1n, 2n ** 53n, 2n ** 53n + 1n, largest - 1n, -largest),
);
/** Few of them need more than the column's usual type: one such value widens the column for all rows. */
const amount = fc.oneof(
  { weight: 40, arbitrary: fc.integer({ min: -1e12, max: 1e12 }).map((value) => value / 100) },
  {
    weight: 10,
    arbitrary: fc.constantFrom(0, -0, 0.1 + 0.2, 999_999_999_999.999, 1e-6, 2 ** 52 + 1),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(2 ** 53, 2 ** 62, 1e19, 1e20, 1e-18, 1e-19, 1.2345678901234568e20),
  },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);
const digits = (value: number, length: number) => String(value).padStart(length, "0");
const days = { min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true };
const day = fc.oneof(
  { weight: 30, arbitrary: fc.date(days).map((value) => value.toISOString().slice(0, 10)) },
  fc.constantFrom("2026-02-30", "0000-01-01", "0000-00-00", "2026-1-1", "", "10000-01-01"),
);
const minutes = fc.integer({ min: 0, max: 59 });
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), minutes, minutes)
  .map((parts) => parts.map((part) => digits(part, 2)).join(":"));
const fraction = fc.option(fc.integer({ min: 0, max: 999_999 }), { nil: null });
const moment = fc.oneof(
  {
    weight: 30,
    arbitrary: fc
      .tuple(
        fc.tuple(day, fc.constantFrom("T", "T", " "), time),
        fraction.map((micros) => (micros === null ? "" : `.${digits(micros, 6)}`)),
        fc.constantFrom("", "Z", "+01:00", "-12:30", "+0200", "+14:00"),
      )
      .map((parts) => parts.flat().join("")),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("now", "", "2026-01-01T24:00:00Z", "2026-01-01T00:00:60Z", "2026-01-01"),
  },
);
const note = fc.oneof(
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc
    .tuple(fc.constantFrom("\t", "\r", "\n", ..."= + - @ ＝ ＋ － ＠ ' '= ''+".split(" ")), fc.string())
    .map((all) => all.join("")),
  fc.constantFrom(
    "",
    " ",
    "\r\n",
    "\uFEFF",
    "\u2028",
    ...', ; " "" NULL null \\N \\ \u0000 \uFFFF 1e5 🐎'.split(" "),
  ),
  fc
    .tuple(fc.constantFrom("a", "ž", '"', "\r\n", "🐎"), fc.integer({ min: 0, max: 30_000 }))
    .map(([part, times]) => part.repeat(times)),
);
export const sample = fc.record({
  whole: fc.option(whole),
  amount: fc.option(amount),
  flag: fc.option(fc.boolean()),
  day: fc.option(day),
  moment: fc.option(moment),
  note: fc.option(note),
  extra: fc.option(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })),
});
/** A record without its id. */
export type Sample = typeof sample extends fc.Arbitrary<infer T> ? T : never;

/** Records of a table, and how many rows it shall have at least. */
export const sampleTable = fc.record({
  rows: fc.oneof(
    { weight: 9, arbitrary: fc.array(sample, { maxLength: 40, size: "max" }) },
    // Plain values only: one odd value would widen a column of all.
    { weight: 3, arbitrary: fc.array(sample.map(plainly), { minLength: 1, maxLength: 40, size: "max" }) },
  ),
  /** Rows altogether, where one in so many tables has several row groups. */
  many: fc.oneof(
    { weight: 12, arbitrary: fc.constant(0) },
    { weight: 1, arbitrary: fc.constantFrom(20_000, 20_001, 45_000) },
  ),
});

function plainly(row: Sample): Sample {
  const cents = row.amount === null ? null : Math.round((row.amount % 1e9) * 100) / 100;
  return {
    ...row,
    amount: cents,
    day: row.day === null ? null : "2026-02-28",
    moment: null,
    note: row.note?.slice(0, 50) ?? null,
  };
}
