import { MirrorError } from "./errors.ts";

/** Answers of `snakeCase`: the fields of a connector are asked for again and again, those of a service may have no end. */
const snakeCases = new Map<string, string>();
const mostKnown = 10_000;

/** `documentNumberSnapshot` -> `document_number_snapshot`; anything but letters and digits becomes `_`. */
export function snakeCase(name: string): string {
  const before = snakeCases.get(name);
  if (before !== undefined) return before;
  const made = name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z]+)([A-Z][a-z])/g, "$1_$2")
    .replace(/[^\p{L}\p{N}_]+/gu, "_")
    .toLowerCase();
  if (snakeCases.size >= mostKnown) snakeCases.clear();
  snakeCases.set(name, made);
  return made;
}

/** The candidate with the fewest typos, or that begins with `name`; undefined when none is close. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = (name.length <= 4 ? 1 : Math.max(2, Math.ceil(name.length / 3))) + 1;
  for (const candidate of candidates) {
    const isBeginning = name.length > 2 && candidate.startsWith(name);
    const typos = editDistance(name.toLowerCase(), candidate.toLowerCase());
    const distance = isBeginning ? Math.min(1.5, typos) : typos;
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** `. Did you mean X?` where a text is close to a candidate; otherwise empty. */
export function didYouMean(value: unknown, candidates: Iterable<string>): string {
  const meant = typeof value === "string" ? nearest(value, candidates) : undefined;
  return meant === undefined ? "" : `. Did you mean ${meant}?`;
}

/** So many names are listed where none of them is close. */
const fewNames = 24;

/** `unknown table invoises. Did you mean invoices?`: the sentence about every name that is not known. */
export function unknownName(kind: string, name: string, known: readonly string[], place = ""): string {
  const isWord = /^[\w.-]+( [\w.-]+)*$/.test(name);
  const meant = didYouMean(name, known);
  const isListed = known.length > 0 && known.length <= fewNames;
  const list = isListed ? `. There ${known.length > 1 ? "are" : "is"} ${known.join(", ")}` : "";
  return `unknown ${kind} ${isWord ? name : JSON.stringify(name)}${place}${meant || list}`;
}

/** Throws MirrorError `usage` for the first name that is not known. */
export function assertKnown(
  kind: string,
  names: readonly string[],
  known: readonly string[],
  hint: string,
  place?: string,
): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new MirrorError("usage", unknownName(kind, unknown, known, place), { hint });
}

/** `a, b and 3 more`: so many of the names. */
export function someOf(names: readonly string[], most: number): string {
  const more = names.length > most ? ` and ${names.length - most} more` : "";
  return names.slice(0, most).join(", ") + more;
}

/** Letters added, left out, replaced, or exchanged with the next one. */
function editDistance(a: string, b: string): number {
  let before: readonly number[] = [];
  let row: readonly number[] = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replace = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isExchange = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const exchange = isExchange ? (before[j - 2] ?? Infinity) + 1 : Infinity;
      next.push(Math.min(replace, exchange, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}
