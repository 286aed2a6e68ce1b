import type { Complaints, Source } from "./read-source.ts";

/** Words with a standard term in the glossary (src/README.md), by themselves or as a part of a longer name. */
const retired = new Set(
  `tender tend tending tended station stations life course courses duty duties pulse presence tolerance patience
   settle settles settled bury buried hasten canary canaries nameless ripple ripples fate mailbox consequences
   bell alarm crew hand hands sight misfit heed breathe manners told tell tells telling voice world troupe stage
   scene house chance ground courier mischief door`.split(/\s+/),
);

/** Names of Node, of libraries, of the config and of the service that contain such a word. */
const allowed = /^(?:allSettled|patience(?:Ms)?|PromiseSettledResult)$/;

/** A term of the glossary, although one of its words alone is retired. */
const oneWord = (text: string) => text.replaceAll(/hand[-_]?over/gi, "handover");

function wordsOf(name: string): string[] {
  return oneWord(name)
    .split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])/)
    .map((word) => word.toLowerCase());
}

export function speaksPlainly({ path: file, code, comments }: Source): Complaints {
  const inPath = wordsOf(file).filter((word) => retired.has(word));
  const identifiers = new Set(code.match(/[A-Za-z_$][\w$]*/g) ?? []);
  const inCode = [...identifiers].filter(
    (name) => !allowed.test(name) && wordsOf(name).some((word) => retired.has(word)),
  );
  const prose = oneWord(comments).replaceAll(/`[^`\n]*`/g, "");
  const inComments = new Set((prose.match(/[A-Za-z]+/g) ?? []).map((word) => word.toLowerCase()));
  return [
    ...inPath.map((word) => `${file}: the file name uses the retired word ${word}`),
    ...inCode.map((name) => `${file}: ${name} uses a retired word`),
    ...[...inComments].filter((word) => retired.has(word)).map((word) => `${file}: a comment says ${word}`),
  ];
}

/** Of a function that its name and types explain. */
const mostPlainLines = 12;

/** Every exported class, and every exported function that is not short, says why it is there. */
export function documented({ path: file, text }: Source): Complaints {
  const lines = text.split("\n");
  return lines.flatMap((line, i) => {
    const match = /^export (?:async )?(?:function\*?|(class)) (\w+)/.exec(line);
    if (!match || lines[i - 1]?.trimEnd().endsWith("*/")) return [];
    const [, isClass, name] = match;
    if (!isClass && lines.indexOf("}", i) - i < mostPlainLines) return [];
    return [`${file}: ${name} has no docstring`];
  });
}
