import { z } from "zod";

/** The pieces of request bodies and queries, with the limits as published. */
export const id = z.int();

/** Lengths are counted in characters as the service does, not in UTF-16 units. */
export function characters(maxLength: number, minLength = 0) {
  const fits = (value: string) => {
    const length = Array.from(value).length;
    return length >= minLength && length <= maxLength;
  };
  const error = minLength
    ? `must have ${minLength} to ${maxLength} characters`
    : `must have at most ${maxLength} characters`;
  const limits = minLength ? { minLength, maxLength } : { maxLength };
  return z.string().refine(fits, { error }).meta(limits);
}

/** Looser than any standard on purpose: the service decides, this catches only what is none at all. */
const address = /^[^\s@]+@[^\s@]+$/;
export const email = (maxLength?: number) => {
  const type = z.string().regex(address, { error: "must be an e-mail address" });
  return maxLength === undefined ? type : type.max(maxLength);
};

export const day = z.iso.date({ error: "must be a date, YYYY-MM-DD" });
export const amount = (minimum?: number, maximum?: number) => {
  const atLeast = minimum === undefined ? z.number() : z.number().min(minimum);
  return maximum === undefined ? atLeast : atLeast.max(maximum);
};

/** May be left out, or be null. */
export const maybe = <T extends z.ZodType>(type: T) => type.nullable().optional();

/** The largest price, either sign. */
const tenTrillion = 10_000_000_000_000;
export const price = amount(-tenTrillion, tenTrillion);
export const positive = (maximum: number) => amount(0.00001, maximum);
export const limits = { tenTrillion, quantity: 1_000_000 } as const;

export const variableSymbol = z.int().min(0).max(9_999_999_999);
export const constantSymbol = z.int().min(0).max(9_999);

const sortDirection = z.enum(["asc", "desc"]).optional();
export const sorted = <const K extends readonly string[]>(keys: K) => ({
  sortBy: z.enum(keys).optional(),
  sortDirection,
});

type Present = Readonly<Record<string, unknown>>;
const isGiven = (value: unknown) => value !== undefined && value !== null;

/** A rule over several fields; the message is given under the first. */
type Rule = [(value: Present) => boolean, { error: string; path: string[] }];

export function exactlyOne(...fields: readonly string[]): Rule {
  const rule = (value: Present) => fields.filter((field) => isGiven(value[field])).length === 1;
  return [rule, { error: `exactly one of ${fields.join(", ")} must be given`, path: fields.slice(0, 1) }];
}

export function oneOrOther(...choices: readonly (readonly string[])[]): Rule {
  const rule = (value: Present) => choices.some((fields) => fields.every((field) => isGiven(value[field])));
  const said = choices.map((fields) => fields.join(" with ")).join(" or ");
  return [rule, { error: `${said} must be given`, path: choices[0]?.slice(0, 1) ?? [] }];
}
