import type { Complaints, Source } from "./read-source.ts";

/** What the linter has no rule for. */
const foulCode: readonly (readonly [RegExp, string])[] = [
  [/\bexport\s+default\b/, "exports are named"],
  [/\.(?:skip|only|todo|skipIf|fails)\b\s*[(.`]/, "a test is run, whole"],
  [/\b(?:xit|xtest|xdescribe|fit|fdescribe)\s*\(/, "a test is run, whole"],
  [/\bvi\.waitFor\b|\.poll\([^;]*?\btimeout:/, "a test waits for a fact under the one limit for all"],
];

const foulComments: readonly (readonly [RegExp, string])[] = [
  [/@ts-(?:ignore|expect-error|nocheck)/, "the type checker is not silenced"],
  [/\b(?:oxlint|eslint|biome)-(?:disable|ignore)/, "the linter is not silenced"],
  [/\bprettier-ignore\b/, "the formatter is not silenced"],
  [/\b(?:v8|c8|istanbul)\s+ignore\b/, "coverage is not silenced"],
  [/\b(?:TODO|FIXME|XXX|HACK)\b/, "what is to be done is done, or told elsewhere"],
];

export function cleanText(source: Source): Complaints {
  const prints = !source.path.startsWith("test/") && /\bconsole\.\w+\(/.test(source.code);
  const spoken = prints ? [`${source.path}: only the log and the output speak`] : [];
  const inCode = foulCode.filter(([pattern]) => pattern.test(source.code));
  const inComments = foulComments.filter(([pattern]) => pattern.test(source.comments));
  return [...spoken, ...[...inCode, ...inComments].map(([, why]) => `${source.path}: ${why}`)];
}

const emptyWords = new Set(["util", "utils", "helper", "helpers", "common", "misc", "shared", "stuff"]);

/** Folders and files say what they are about, in kebab-case. */
export function wellNamed({ path }: Source): Complaints {
  const names = path.split("/").map((name) => name.replace(/(\.test|\.config)?\.[a-z]+$/, ""));
  const odd = names
    .filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))
    .map((name) => `${name} is not kebab-case`);
  const empty = names
    .filter((name) => name.split("-").some((word) => emptyWords.has(word)))
    .map((name) => `${name} says nothing`);
  return [...odd, ...empty].map((why) => `${path}: ${why}`);
}
